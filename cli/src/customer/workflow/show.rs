//! `berth workflow show`: a run.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::schedule::exact;
use crate::failure::Failure;
use crate::output::{self, Details, Format, age};
use chrono::TimeDelta;
use client::{UsageAmounts, WorkflowRun};
use domain::id::WorkflowRunId;
use domain::time::Timestamp;
use runtime::clock;

/// Which run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow show run_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct ShowArguments {
    /// Id of the run.
    #[arg(value_name = "RUN")]
    pub run: WorkflowRunId,
}

/// Shows a run.
pub async fn run(connection: &Connection, arguments: &ShowArguments) -> Result<(), Failure> {
    let run = connection.client.workflow_run_with_usage(arguments.run).await;
    let run = run.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(run.json()),
        Format::Table => output::text(&details(&run, clock::wall())),
    }
}

fn details(run: &WorkflowRun, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", exact(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("id", run.id);
    let of = |version| format!(" (version {version})");
    let version = run.version.map(of).unwrap_or_default();
    details.some("workflow", run.workflow.as_ref().map(|name| format!("{name}{version}")));
    details.row("state", &run.state);
    details.some("reason", run.reason.as_ref());
    details
        .row("tasks", format!("{}, {} ended, {} unsuccessful", run.tasks, run.ended, run.failed));
    details.some("input", run.input.as_ref().map(client::RawJson::as_str));
    let labels = run.labels.iter().map(|(key, value)| format!("{key}={value}"));
    let labels = labels.collect::<Vec<_>>().join(", ");
    details.some("labels", Some(labels).filter(|labels| !labels.is_empty()));
    details.row("started", format!("{} by {}", at(run.created_at), run.started_by));
    let of = |name: &String| match run.due_at {
        Some(due_at) => format!("{name}, due {}", at(due_at)),
        None => name.clone(),
    };
    details.some("schedule", run.schedule_name.as_ref().map(of));
    details.some("deadline", run.deadline_at.map(at));
    details.some("finished", run.finished_at.map(at));
    details.some("took", run.finished_at.map(|end| age::exact(end - run.created_at)));
    details.some("rerun of", run.rerun_of);
    details.some("used", run.usage.as_ref().map(used));
    details.to_string()
}

/// What its attempts used: with the cores and the memory that they had.
fn used(usage: &UsageAmounts) -> String {
    let seconds = |ms: i64| TimeDelta::milliseconds(ms);
    let (cores, memory) =
        (usage.cpu_millis_ms as f64 / 1e6, usage.memory_mib_ms as f64 / (1024.0 * 1e3));
    format!(
        "{} of {} attempts; {cores:.1} core seconds, {memory:.1} GiB seconds",
        age::exact(seconds(usage.run_ms)),
        usage.attempts
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_with_what_it_has() {
        let run: WorkflowRun = serde_json::from_str(
            r#"{"id":"run_0190a6f3c1d27a3e8b1f0c2d4e5f6071","workflow":"load","version":2,"state":"failed","tasks":3,"ended":3,
                "failed":1,"input":{"day": 1},"labels":{"a":"b"},"created_at":"2030-01-31T12:00:00Z","deadline_at":null,
                "finished_at":"2030-01-31T12:01:30Z","reason":null,"rerun_of":null,"schedule":"schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071",
                "schedule_name":"daily","due_at":"2030-01-31T11:00:00Z","started_by":"q2mnv5c7xk3a",
                "usage":{"attempts":4,"charged_attempts":3,"run_ms":90000,"cpu_millis_ms":22500000,"memory_mib_ms":46080000}}"#,
        )
        .unwrap();
        assert_eq!(
            details(&run, "2030-01-31T13:00:00Z".parse().unwrap()),
            "id        run_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n\
             workflow  load (version 2)\n\
             state     failed\n\
             tasks     3, 3 ended, 1 unsuccessful\n\
             input     {\"day\": 1}\n\
             labels    a=b\n\
             started   2030-01-31T12:00:00Z (1h ago) by q2mnv5c7xk3a\n\
             schedule  daily, due 2030-01-31T11:00:00Z (2h ago)\n\
             finished  2030-01-31T12:01:30Z (58m ago)\n\
             took      1m30s\n\
             used      1m30s of 4 attempts; 22.5 core seconds, 45.0 GiB seconds\n"
        );
    }
}
