//! `berth schedule edit`: changes what is named of a schedule, and nothing else.
//!
//! Reads the schedule, changes that, and stores it in the version that was read: a change by somebody else in between is refused and
//! not lost.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::set::{self, Setting};
use super::super::submit::written;
use super::super::task_arguments::TaskArguments;
use super::diff::{storable, tell};
use super::misfire::misfire;
use super::show::{changed, name, read};
use super::timing::TimingArguments;
use super::workflow::WorkflowArguments;
use crate::failure::Failure;
use client::request::Timing;
use domain::merge_patch;
use domain::schedule::{Misfire, Overlap};
use serde_json::{Map, Value, json};

/// What changes of a schedule.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth schedule edit NAME [OPTIONS] [-- COMMAND [ARGS]...]",
    after_help = "Examples:\n  berth schedule edit report --zone Europe/Berlin --execution-cap 2h\n  \
                  berth schedule edit report --env A=2 --unset env.B --label team=media\n  \
                  berth schedule edit report --cron '0 4 * * *' --unset timing.end_at\n  \
                  berth schedule edit report -- ./report.sh --full\n  \
                  berth schedule edit nightly --input '{\"region\": \"us\"}'\n\n\
                  Omitted fields stay unchanged. Timing flags (--cron, --every and so on) replace the whole timing.\n\
                  The difference is written to standard error."
)]
pub struct EditArguments {
    /// Name.
    #[arg(value_name = "NAME", value_parser = name)]
    pub schedule: String,
    /// The timing.
    #[command(flatten)]
    pub timing: TimingArguments,
    /// Overlap policy, if an earlier task or run is unfinished: skip, buffer_one, buffer_all, cancel_other or allow.
    #[arg(long, help_heading = "Policies")]
    pub overlap: Option<Overlap>,
    /// Misfire policy for late due times: fire_now, fire_next_soon, skip, catch_up:COUNT:MAX_AGE or catch_up:COUNT:MAX_AGE:PER_SECOND.
    #[arg(long, value_parser = misfire, help_heading = "Policies")]
    pub misfire: Option<Misfire>,
    /// Pause after N consecutive tasks or runs without success; `--unset pause_after_failures`: never.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Policies")]
    pub pause_after_failures: Option<u32>,
    /// Other field of the task, such as retry.initial=3s; repeatable.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = set::setting, help_heading = "Policies")]
    pub set: Vec<Setting>,
    /// Field to reset to its default, such as timing.end_at, pause_after_failures, env.A or labels.team; repeatable.
    #[arg(long = "unset", value_name = "FIELD", help_heading = "Policies")]
    pub unset: Vec<String>,
    /// The workflow of which each fire starts a run.
    #[command(flatten)]
    pub workflow: WorkflowArguments,
    /// The task that each fire creates.
    #[command(flatten, next_help_heading = "Task")]
    pub task: TaskArguments,
}

/// Changes a schedule and shows what changed.
pub async fn run(connection: &Connection, arguments: EditArguments) -> Result<(), Failure> {
    let (client, name) = (&connection.client, arguments.schedule.clone());
    let change = change(arguments)?;
    if change.as_object().is_none_or(Map::is_empty) {
        return Err(Failure::usage("no change was given; see `berth schedule edit --help`"));
    }
    let before = client.schedule(&name).await.map_err(|error| failure(&error))?;
    let shown: Value = read(before.json())?;
    let body = written(&edited(shown.clone(), change))?;
    let stored = client.put_schedule_json(&name, body, Some(before.version)).await;
    let stored = stored.map_err(|error| {
        let failed = failure(&error);
        match error.api() {
            Some(problem) if problem.status == 412 => {
                failed.adding(" It was changed concurrently; repeat the command.")
            }
            _ => failed,
        }
    })?;
    tell(&name, Some(&shown), &read(stored.json())?);
    changed(connection.format, &stored)
}

/// The schedule to store: as it is shown, but for what changes.
fn edited(shown: Value, change: Value) -> Value {
    let mut schedule = storable(shown);
    let Value::Object(mut change) = change else { return schedule };
    if let Some(Value::Object(of_task)) = change.remove("task") {
        // What runs makes tasks of it from now on.
        if of_task.contains_key("run") {
            remove(&mut schedule, "workflow");
        }
        match schedule.get_mut("task") {
            Some(task) => domain::task::change(task, of_task),
            None => schedule["task"] = Value::Object(of_task),
        }
    }
    if let Some(of_workflow) = change.remove("workflow") {
        // A name starts runs of it from now on.
        if of_workflow.get("name").is_some() {
            remove(&mut schedule, "task");
        }
        for (field, value) in of_workflow.as_object().into_iter().flatten() {
            // An input is replaced and not merged.
            schedule["workflow"][field] = value.clone();
        }
    }
    merge_patch::apply(&mut schedule, Value::Object(change));
    schedule
}

fn remove(schedule: &mut Value, field: &str) {
    if let Value::Object(fields) = schedule {
        fields.remove(field);
    }
}

/// The merge patch that the flags stand for.
fn change(arguments: EditArguments) -> Result<Value, Failure> {
    let mut change = Map::new();
    let timing = arguments.timing.timing();
    let named = [
        ("timing", (timing != Timing::default()).then(|| json!(timing))),
        ("overlap", arguments.overlap.map(|overlap| json!(overlap))),
        ("misfire", arguments.misfire.map(|misfire| json!(misfire))),
        ("pause_after_failures", arguments.pause_after_failures.map(|most| json!(most))),
        ("workflow", arguments.workflow.given().map(|workflow| json!(workflow))),
    ];
    for (name, value) in named {
        change.extend(value.map(|value| (name.to_owned(), value)));
    }
    let mut task = json!(arguments.task.into_task()?);
    merge_patch::merge(&mut task, set::patch(&arguments.set));
    let mut change = Value::Object(change);
    if task.as_object().is_some_and(|task| !task.is_empty()) {
        change["task"] = task;
    }
    for field in &arguments.unset {
        let setting = unset(field).map_err(Failure::usage)?;
        merge_patch::merge(&mut change, set::patch([&setting]));
    }
    Ok(change)
}

/// A field of the schedule itself, of its workflow, or of its task.
fn unset(field: &str) -> Result<Setting, String> {
    let own = field.split('.').next().unwrap_or_default();
    match field.strip_prefix("task.") {
        None if ["timing", "pause_after_failures", "misfire", "overlap", "workflow"]
            .contains(&own) =>
        {
            set::unset(field)
        }
        of_task => set::unset(of_task.unwrap_or(field)).map(|setting| setting.within("task")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        edit: EditArguments,
    }

    fn edit(line: &[&str]) -> Value {
        let line = ["berth", "report"].iter().chain(line);
        change(Typed::try_parse_from(line).unwrap().edit).unwrap()
    }

    fn shown() -> Value {
        json!({"id": "schedule_1", "version": 3, "timing": {"specs": [{"cron": "@daily"}], "zone": "Europe/Berlin", "end_at": "2031-01-01T00:00:00Z"},
            "task": {"tier": "premium", "execution_cap": "2h", "labels": {"team": "x", "run": "1"},
                "run": {"command": {"argv": ["a"], "env": {"A": "1", "B": "2"}, "stdin": "in"}}},
            "overlap": "allow", "misfire": "skip", "pause_after_failures": 5, "paused": null})
    }

    #[test]
    fn only_what_is_named_changes() {
        assert_eq!(edited(shown(), edit(&["--zone", "UTC"]))["timing"]["zone"], "UTC");
        for (line, pointer, value) in [
            (&["--zone", "UTC"][..], "/timing/zone", json!("UTC")),
            (&["--cron", "0 4 * * *"], "/timing/specs", json!([{"cron": "0 4 * * *"}])),
            (&["--execution-cap", "5m"], "/task/execution_cap", json!("5m")),
            (&["--env", "A=3"], "/task/run/command/env/A", json!("3")),
            (&["--label", "team=y"], "/task/labels/team", json!("y")),
            (&["--overlap", "skip"], "/overlap", json!("skip")),
            (&["--", "b", "c"], "/task/run/command/argv", json!(["b", "c"])),
            (&["--set", "retry.initial=3s"], "/task/retry", json!({"initial": "3s"})),
        ] {
            let mut wanted = storable(shown());
            let (above, last) = pointer.rsplit_once('/').unwrap();
            wanted.pointer_mut(above).unwrap()[last] = value;
            assert_eq!(edited(shown(), edit(line)), wanted, "{line:?}");
        }
    }

    #[test]
    fn what_is_unset_has_its_default_again_and_another_driver_takes_the_place() {
        let line = [
            "--unset",
            "timing.end_at",
            "--unset",
            "pause_after_failures",
            "--unset",
            "env.B",
            "--unset",
            "task.labels.team",
            "--unset",
            "stdin",
        ];
        let schedule = edited(shown(), edit(&line));
        assert_eq!(
            schedule["timing"],
            json!({"specs": [{"cron": "@daily"}], "zone": "Europe/Berlin"})
        );
        assert_eq!(schedule.get("pause_after_failures"), None);
        assert_eq!(schedule["task"]["run"]["command"], json!({"argv": ["a"], "env": {"A": "1"}}));
        assert_eq!(schedule["task"]["labels"], json!({"run": "1"}));
        let http = edited(shown(), edit(&["--http", "https://example.com/"]));
        assert_eq!(http["task"]["run"], json!({"http": {"url": "https://example.com/"}}));
    }

    #[test]
    fn a_workflow_takes_the_place_of_the_task_and_a_command_that_of_the_workflow() {
        let line = ["--workflow", "nightly", "--input", r#"{"a": 1, "b": 2}"#];
        let schedule = edited(shown(), edit(&line));
        assert_eq!(schedule["workflow"], json!({"name": "nightly", "input": {"a": 1, "b": 2}}));
        assert_eq!(schedule.get("task"), None);
        let other = edited(schedule.clone(), edit(&["--input", r#"{"a": 2}"#]));
        assert_eq!(other["workflow"], json!({"name": "nightly", "input": {"a": 2}}));
        let none = edited(schedule.clone(), edit(&["--unset", "workflow.input"]));
        assert_eq!(none["workflow"], json!({"name": "nightly", "input": null}));
        let task = edited(schedule, edit(&["--", "b"]));
        assert_eq!(task["task"]["run"]["command"]["argv"], json!(["b"]));
        assert_eq!(task.get("workflow"), None);
    }

    #[test]
    fn nothing_named_is_no_change() {
        assert_eq!(edit(&[]), json!({}));
    }
}
