//! A schedule for people, and the name of one as it is typed.

use super::super::get::runs;
use super::words::{plain, when};
use crate::failure::Failure;
use crate::output::{self, Details, Format, age};
use chrono::SecondsFormat;
use client::{ApiResponse, Extensible, Schedule};
use domain::schedule::Misfire;
use domain::time::{Timestamp, format_duration};
use runtime::clock;
use serde::Serialize;
use serde_json::Value;

/// Longest name.
const MAX_NAME: usize = 100;

/// A name that a schedule can have.
pub fn name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if first && text.len() <= MAX_NAME && text.bytes().all(plain) && text != "preview" {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, a letter or digit first, and not `preview`"
    ))
}

/// What the server shows, as any JSON.
pub(super) fn read(json: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(json)
        .map_err(|error| Failure::failed(format!("cannot read the server's answer: {error}")))
}

/// A part of an answer as JSON, which has names for what only a later version knows.
pub(super) fn json(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// Shows a schedule as it is after a change.
pub fn changed(format: Format, schedule: &ApiResponse<Schedule>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(schedule.json()),
        Format::Table => output::text(&details(schedule, clock::wall())),
    }
}

fn details(schedule: &Schedule, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", exact(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("name", &schedule.name);
    details.row("id", schedule.id);
    details.row("version", schedule.version);
    details.row("state", &schedule.state);
    if let Some(paused) = &schedule.paused {
        let reason = paused.reason.as_ref().map(|reason| format!(": {reason}"));
        let by = format!("{} by {}{}", at(paused.at), paused.by, reason.unwrap_or_default());
        details.row("paused", by);
    }
    details.row("due", when(&json(&schedule.timing)));
    limits(&mut details, schedule);
    details.some("runs", schedule.task.as_ref().map(|task| runs(&task.run)));
    if let Some(workflow) = &schedule.workflow {
        details.row("runs", format!("workflow {}", workflow.name));
        details.some("input", workflow.input.as_ref().map(client::RawJson::as_str));
    }
    details.row("overlap", &schedule.overlap);
    details.row("misfire", misfire(schedule));
    let failures = schedule.failures_in_row;
    let pauses = |enough| format!("after {enough} consecutive failures; now {failures}");
    details.some("pauses", schedule.pause_after_failures.map(pauses));
    details.some("next due", schedule.next_due_at.map(at));
    let waits = schedule.next_due_at.is_none() && schedule.ended_at.is_none();
    details.some(
        "next due",
        waits.then_some(if schedule.task.is_some() {
            "after the end of its task"
        } else {
            "after the end of its run"
        }),
    );
    let put_off = schedule.next_fire_at.filter(|_| schedule.next_fire_at != schedule.next_due_at);
    details.some("fires then", put_off.map(at));
    details.some("over since", schedule.ended_at.map(at));
    details.row("fires", schedule.fires);
    details.row("changed", at(schedule.updated_at));
    details.to_string()
}

/// What bounds its due times, where something does.
fn limits(details: &mut Details, schedule: &Schedule) {
    let timing = json(&schedule.timing);
    for (name, field) in [
        ("not before", "start_at"),
        ("not after", "end_at"),
        ("at most fires", "max_fires"),
        ("jitter", "jitter"),
    ] {
        details.some(name, Some(&timing[field]).filter(|value| !value.is_null()).map(plain));
    }
    let days = timing["exclude"].as_array().map(Vec::len);
    let of = |days| {
        if days == 1 { "1 date or range".to_owned() } else { format!("{days} dates or ranges") }
    };
    details.some("excluded", days.map(of));
    for (name, field, usual) in [("gap", "gap", "next_valid"), ("repeat", "repeat", "first")] {
        let said = timing[field].as_str().filter(|said| *said != usual);
        details.some(name, said);
    }
}

fn misfire(schedule: &Schedule) -> String {
    let Extensible::Known(Misfire::CatchUp { count, max_age, per_second }) = schedule.misfire
    else {
        return schedule.misfire.to_string();
    };
    let pace = per_second.map(|pace| format!(", {pace} per second")).unwrap_or_default();
    format!("catch up with the newest {count}, at most {} old{pace}", format_duration(max_age))
}

/// A time in UTC, to the millisecond where it is not of a whole second.
pub fn exact(at: Timestamp) -> String {
    let whole = at.timestamp_subsec_millis() == 0;
    let format = if whole { SecondsFormat::Secs } else { SecondsFormat::Millis };
    at.to_rfc3339_opts(format, true)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A schedule as the server shows it.
    pub fn example() -> Schedule {
        serde_json::from_str(
            r#"{"id":"schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071","name":"report","version":3,"state":"paused",
                "timing":{"specs":[{"cron":"30 2 * * *"}],"zone":"America/New_York","max_fires":9,"exclude":["2027-12-24"],
                    "gap":"skip","repeat":"first","new":"field"},
                "task":{"run":{"command":{"argv":["bash","-c","echo hi"]}},"delay_tolerance":"0s","execution_cap":"1h","expire_if_late":false,
                    "priority":0,"flexible":false,"max_attempts":1,"delivery":"at_least_once","pool":"default"},
                "overlap":"skip","misfire":{"catch_up":{"count":3,"max_age":"72h","per_second":2}},
                "pause_after_failures":5,"failures_in_row":2,
                "paused":{"at":"2030-01-31T11:00:00Z","by":"key q2mnv5c7xk3a","reason":"holidays"},
                "next_due_at":"2030-02-01T07:30:00Z","next_fire_at":"2030-02-01T07:30:00Z","fires":2,"recent_tasks":[],
                "tzdb":"2025b","created_by":"q2mnv5c7xk3a","created_at":"2030-01-01T00:00:00Z",
                "updated_at":"2030-01-31T11:00:00Z","ended_at":null}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_schedule_is_shown_with_what_is_not_as_usual() {
        let now = "2030-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(
            details(&example(), now),
            "name           report\n\
             id             schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n\
             version        3\n\
             state          paused\n\
             paused         2030-01-31T11:00:00Z (1h ago) by key q2mnv5c7xk3a: holidays\n\
             due            30 2 * * * (America/New_York)\n\
             at most fires  9\n\
             excluded       1 date or range\n\
             gap            skip\n\
             runs           bash -c 'echo hi'\n\
             overlap        skip\n\
             misfire        catch up with the newest 3, at most 72h old, 2 per second\n\
             pauses         after 5 consecutive failures; now 2\n\
             next due       2030-02-01T07:30:00Z (in 19h)\n\
             fires          2\n\
             changed        2030-01-31T11:00:00Z (1h ago)\n"
        );
    }

    #[test]
    fn a_workflow_is_shown_with_its_input() {
        let mut shown = serde_json::to_value(example()).unwrap();
        shown.as_object_mut().unwrap().remove("task");
        shown["workflow"] = serde_json::json!({"name": "nightly", "input": {"a": 1}});
        shown["next_due_at"] = Value::Null;
        let schedule: Schedule = serde_json::from_value(shown).unwrap();
        let text = details(&schedule, "2030-01-31T12:00:00Z".parse().unwrap());
        for line in [
            "runs           workflow nightly\n",
            "input          {\"a\":1}\n",
            "next due       after the end of its run\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn a_name_is_plain() {
        assert!(name("report-2.daily_x").is_ok());
        for bad in ["", "preview", "-x", "a b", "a/b", ".."] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
