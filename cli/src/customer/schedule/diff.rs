//! What a schedule was and what it is, a line each, for whoever changes one.
//!
//! Called by `put` and `edit`. The rule: values that may be secret (a command's environment and input, a call's headers and body, the input of runs) are said to have
//! changed and never shown.

use crate::output::{self, cell};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Fields of a schedule that are stored as they are given; all others are the server's.
const WRITABLE: [&str; 7] =
    ["timing", "task", "workflow", "overlap", "misfire", "pause_after_failures", "paused"];
/// Fields that the server shows and does not take.
const SHOWN: [&str; 14] = [
    "id",
    "name",
    "version",
    "state",
    "failures_in_row",
    "next_due_at",
    "next_fire_at",
    "fires",
    "recent_tasks",
    "recent_runs",
    "tzdb",
    "created_by",
    "created_at",
    "updated_at",
];
/// Below these, no value is shown.
const SECRET: [&str; 5] = [
    "task.run.command.env.",
    "task.run.command.stdin",
    "task.run.http.headers.",
    "task.run.http.body",
    "workflow.input",
];

/// A schedule as the server shows it, in the form in which it is stored: without what only the server says.
///
/// Whether it is paused is left out where it is not, so that a file which was kept does not resume a schedule.
pub(in crate::customer) fn storable(mut shown: Value) -> Value {
    if let Value::Object(fields) = &mut shown {
        for name in SHOWN.into_iter().chain(["ended_at"]) {
            fields.remove(name);
        }
        match fields.get("paused") {
            Some(Value::Object(_)) => _ = fields.insert("paused".to_owned(), json!(true)),
            Some(Value::Null) => _ = fields.remove("paused"),
            _ => {}
        }
        fields.retain(|name, value| name != "pause_after_failures" || !value.is_null());
    }
    shown
}

/// Says on standard error what a change of the schedule `name` did.
pub(super) fn tell(name: &str, before: Option<&Value>, after: &Value) {
    let version = |schedule: &Value| schedule["version"].as_i64().unwrap_or_default();
    let Some(before) = before else {
        return output::remark(&format!("berth: schedule {name} is new"));
    };
    let (from, to) = (version(before), version(after));
    let lines = lines(before, after);
    if lines.is_empty() {
        return output::remark(&format!("berth: schedule {name} is unchanged: version {to}"));
    }
    output::remark(&format!("berth: schedule {name}, version {from} -> {to}:"));
    lines.iter().for_each(|line| output::remark(line));
}

/// What differs: `- field: before` and `+ field: after`, by the names of the fields.
fn lines(before: &Value, after: &Value) -> Vec<String> {
    let (before, after) = (leaves(before), leaves(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut lines = Vec::new();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        if was == is {
            continue;
        }
        lines.extend(was.map(|was| format!("  - {}: {}", cell::plain(name), said(name, was))));
        lines.extend(is.map(|is| format!("  + {}: {}", cell::plain(name), said(name, is))));
    }
    lines
}

fn said(name: &str, value: &Value) -> String {
    if SECRET.iter().any(|secret| name.starts_with(secret)) {
        return "(not shown)".to_owned();
    }
    cell::plain(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Every stored field by its path, objects taken apart and lists as they are.
fn leaves(schedule: &Value) -> BTreeMap<String, Value> {
    let stored = storable(schedule.clone());
    let mut leaves = BTreeMap::new();
    for name in WRITABLE {
        if let Some(value) = stored.get(name) {
            collect(name.to_owned(), value, &mut leaves);
        }
    }
    leaves
}

fn collect(path: String, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => of_each(&path, fields, leaves),
        Value::Null => {}
        value => _ = leaves.insert(path, value.clone()),
    }
}

fn of_each(path: &str, fields: &Map<String, Value>, leaves: &mut BTreeMap<String, Value>) {
    for (name, value) in fields {
        collect(format!("{path}.{name}"), value, leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Value {
        json!({"id": "schedule_1", "name": "report", "version": 3, "state": "active",
            "timing": {"specs": [{"cron": "@daily"}], "zone": "UTC"},
            "task": {"run": {"command": {"argv": ["a"], "env": {"TOKEN": "hunter2"}}}, "execution_cap": "1h", "labels": {"team": "x"}},
            "overlap": "skip", "misfire": "fire_now", "pause_after_failures": null, "failures_in_row": 0, "paused": null,
            "next_due_at": "2030-01-31T12:00:00Z", "next_fire_at": null, "fires": 2, "recent_tasks": [], "recent_runs": [], "tzdb": "2025b",
            "created_by": "q2mnv5c7xk3a", "created_at": "2030-01-31T12:00:00Z", "updated_at": "2030-01-31T12:00:00Z", "ended_at": null})
    }

    #[test]
    fn what_is_shown_can_be_stored_again() {
        let stored = storable(shown());
        let names: Vec<&String> = stored.as_object().unwrap().keys().collect();
        assert_eq!(names, ["misfire", "overlap", "task", "timing"]);
        let mut paused = shown();
        paused["paused"] =
            json!({"at": "2030-01-31T12:00:00Z", "by": "q2mnv5c7xk3a", "reason": null});
        paused["pause_after_failures"] = json!(3);
        let stored = storable(paused);
        assert_eq!((&stored["paused"], &stored["pause_after_failures"]), (&json!(true), &json!(3)));
        let own = json!({"timing": {}, "colour": "red", "paused": false});
        assert_eq!(storable(own.clone()), own, "what nobody knows is the server's to refuse");
    }

    #[test]
    fn a_change_is_said_field_by_field_and_secrets_are_not() {
        let mut after = shown();
        after["version"] = json!(4);
        after["timing"]["zone"] = json!("Europe/Berlin");
        after["task"]["run"]["command"]["env"] = json!({"TOKEN": "hunter3", "A": "1"});
        after["task"]["labels"] = json!({});
        after["pause_after_failures"] = json!(3);
        after["fires"] = json!(7);
        assert_eq!(
            lines(&shown(), &after),
            [
                "  + pause_after_failures: 3",
                "  - task.labels.team: x",
                "  + task.run.command.env.A: (not shown)",
                "  - task.run.command.env.TOKEN: (not shown)",
                "  + task.run.command.env.TOKEN: (not shown)",
                "  - timing.zone: UTC",
                "  + timing.zone: Europe/Berlin",
            ]
        );
        assert!(lines(&after, &after).is_empty());
        let of = |input: Value| json!({"workflow": {"name": "nightly", "input": input}});
        assert_eq!(
            lines(&of(json!({"a": "hunter2"})), &of(json!({"a": "hunter3"}))),
            ["  - workflow.input.a: (not shown)", "  + workflow.input.a: (not shown)"]
        );
    }
}
