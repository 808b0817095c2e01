//! `berth schedule put`.
//!
//! The same again changes nothing, so that a script may put what it wants at each start.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::size;
use super::super::submit::{read, written};
use super::super::task_arguments::{FIELDS as TASK_FIELDS, TaskArguments};
use super::super::warned::warned;
use super::diff::{storable, tell};
use super::misfire::misfire;
use super::show::{changed, name, read as shown};
use super::timing::{FIELDS, TimingArguments, WHEN};
use super::workflow::WorkflowArguments;
use crate::failure::Failure;
use client::NewSchedule;
use client::request::Timing;
use domain::schedule::{Misfire, Overlap};

/// A schedule to store.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth schedule put NAME [WHEN]... [OPTIONS] -- COMMAND [ARGS]...\n       \
                      berth schedule put NAME [WHEN]... [OPTIONS] --http URL\n       \
                      berth schedule put NAME [WHEN]... [OPTIONS] --workflow NAME [--input JSON]\n       \
                      berth schedule put NAME --file FILE",
    after_help = "Examples:\n  berth schedule put report --cron '30 2 * * mon-fri' --zone Europe/Berlin -- bash -c 'echo hi'\n  \
                  berth schedule put poll --every 90s --overlap allow --http https://example.com/poll\n  \
                  berth schedule put month-end --monthly last@23:00 --misfire catch_up:3:72h -- /opt/close-books\n  \
                  berth schedule put nightly --cron '0 1 * * *' --workflow load --input '{\"region\": \"eu\"}'\n  \
                  berth schedule get report --output json > report.json && berth schedule put report --file report.json\n\n\
                  This replaces the whole schedule: omitted fields get their default. To change a part, use `berth schedule edit`.\n\
                  The difference is written to standard error",
    group = clap::ArgGroup::new("when").args(WHEN).args(["file"]).required(true).multiple(true),
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "file", "workflow"]),
    group = clap::ArgGroup::new("given").args(["command", "script", "http", "noop", "file", "workflow"]).required(true).multiple(true)
)]
pub struct PutArguments {
    /// Name: 1 to 100 of a-z A-Z 0-9 _ . -
    #[arg(value_name = "NAME", value_parser = name)]
    pub schedule: String,
    /// The timing.
    #[command(flatten)]
    pub timing: TimingArguments,
    /// Overlap policy, if an earlier task or run is unfinished: skip (default), buffer_one, buffer_all, cancel_other or allow.
    #[arg(long, help_heading = "Policies")]
    pub overlap: Option<Overlap>,
    /// Misfire policy for late due times: fire_now, fire_next_soon, skip, catch_up:COUNT:MAX_AGE or catch_up:COUNT:MAX_AGE:PER_SECOND.
    #[arg(long, value_parser = misfire, help_heading = "Policies")]
    pub misfire: Option<Misfire>,
    /// Pause after N consecutive tasks or runs without success.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Policies")]
    pub pause_after_failures: Option<u32>,
    /// Store as paused; `--paused false` resumes.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true", help_heading = "Policies")]
    pub paused: Option<bool>,
    /// Only if the schedule has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..), help_heading = "Storage")]
    pub if_version: Option<i64>,
    /// JSON file with the schedule, as in the API or from `berth schedule get --output json`; `-`: standard input.
    #[arg(long, alias = "json", value_name = "FILE", conflicts_with_all = WHEN, conflicts_with_all = FIELDS, conflicts_with_all = TASK_FIELDS,
        conflicts_with_all = ["overlap", "misfire", "pause_after_failures", "paused", "input"], help_heading = "Storage")]
    pub file: Option<String>,
    /// The workflow of which each fire starts a run.
    #[command(flatten)]
    pub workflow: WorkflowArguments,
    /// The task that each fire creates.
    #[command(flatten, next_help_heading = "Task")]
    pub task: TaskArguments,
}

/// Stores a schedule.
pub async fn run(connection: &Connection, arguments: PutArguments) -> Result<(), Failure> {
    let (client, version) = (&connection.client, arguments.if_version);
    let name = arguments.schedule.clone();
    let body = match &arguments.file {
        Some(file) => from_file(file)?,
        None => {
            let schedule = NewSchedule {
                overlap: arguments.overlap,
                misfire: arguments.misfire.map(Into::into),
                pause_after_failures: arguments.pause_after_failures,
                paused: arguments.paused,
                ..what(arguments.timing.timing(), arguments.workflow, arguments.task)?
            };
            written(&schedule)?
        }
    };
    size::check(connection, body.len()).await?;
    // A key that may submit and not read cannot see what was there before.
    let before = client.schedule(&name).await;
    let stored = client.put_schedule_json(&name, body, version).await;
    let stored = stored.map_err(|error| failure(&error))?;
    warned(&stored.warnings);
    match before {
        Ok(before) => tell(&name, Some(&shown(before.json())?), &shown(stored.json())?),
        Err(error) if error.api().is_some_and(|problem| problem.status == 404) => {
            tell(&name, None, &shown(stored.json())?);
        }
        Err(_) => {}
    }
    changed(connection.format, &stored)
}

/// A schedule of a workflow, or of a task.
pub(in crate::customer) fn what(
    timing: Timing,
    workflow: WorkflowArguments,
    task: TaskArguments,
) -> Result<NewSchedule, Failure> {
    Ok(match workflow.given() {
        Some(workflow) => NewSchedule::of_workflow(timing, workflow),
        None => NewSchedule::new(timing, task.into_task()?),
    })
}

/// A schedule in a file: as the API takes it, or as it shows it, without what only the server says.
pub(in crate::customer) fn from_file(file: &str) -> Result<Vec<u8>, Failure> {
    let text = read(file)?;
    match serde_json::from_slice(&text) {
        Ok(schedule) => written(&storable(schedule)),
        // The server says what is wrong with it, and where.
        Err(_) => Ok(text),
    }
}
