//! `berth quote schedule`.

use super::ask::{ask, raw};
use crate::customer::connection::Connection;
use crate::customer::schedule::{
    FIELDS, TimingArguments, WHEN, WorkflowArguments, from_file, name, what,
};
use crate::customer::task_arguments::{FIELDS as TASK_FIELDS, TaskArguments};
use crate::failure::Failure;
use client::RawJson;
use client::request::{NewSchedule, QuoteAsk};
use domain::schedule::Overlap;

/// What to price.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth quote schedule NAME [--month MONTH]\n       \
                      berth quote schedule [NAME] [WHEN]... [OPTIONS] -- COMMAND [ARGS]...\n       \
                      berth quote schedule [NAME] [WHEN]... [OPTIONS] --http URL\n       \
                      berth quote schedule [NAME] [WHEN]... [OPTIONS] --workflow NAME [--input JSON]\n       \
                      berth quote schedule [NAME] --file FILE",
    after_help = "Examples:\n  berth quote schedule report --month 2030-03\n  \
                  berth quote schedule --cron '*/5 * * * *' --zone Europe/Berlin --execution-cap 2m -- ./poll.sh\n  \
                  berth quote schedule nightly --file nightly.json\n\n\
                  Takes what `berth schedule put` takes. Nothing is stored.",
    group = clap::ArgGroup::new("when").args(WHEN).args(["file"]).multiple(true),
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "file", "workflow"]),
    group = clap::ArgGroup::new("given").args(["command", "script", "http", "noop", "file", "workflow"]).multiple(true)
)]
pub struct QuoteScheduleArguments {
    /// Name of a stored schedule; with a timing or a file, the name under which it would be stored.
    #[arg(value_name = "NAME", value_parser = name, required_unless_present = "when")]
    pub schedule: Option<String>,
    /// Month, such as 2030-03. Default: the first whole one in which it is due, or else the one of its next due time.
    #[arg(long, value_name = "MONTH")]
    pub month: Option<String>,
    /// The timing.
    #[command(flatten)]
    pub timing: TimingArguments,
    /// Overlap policy: skip (default), buffer_one, buffer_all, cancel_other or allow.
    #[arg(long, help_heading = "Policies")]
    pub overlap: Option<Overlap>,
    /// JSON file with the schedule, as in the API or from `berth schedule get --output json`; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = WHEN, conflicts_with_all = FIELDS, conflicts_with_all = TASK_FIELDS,
        conflicts_with_all = ["overlap", "input"])]
    pub file: Option<String>,
    /// The workflow of which each fire starts a run.
    #[command(flatten)]
    pub workflow: WorkflowArguments,
    /// The task that each fire creates.
    #[command(flatten, next_help_heading = "Task")]
    pub task: TaskArguments,
}

/// Prices a month of a schedule.
pub async fn run(
    connection: &Connection,
    arguments: QuoteScheduleArguments,
) -> Result<(), Failure> {
    let QuoteScheduleArguments { schedule: name, month, timing, overlap, file, workflow, task } =
        arguments;
    let schedule = match file {
        Some(file) => Some(in_file(&file)?),
        None if timing.is_empty() => None,
        None => {
            let schedule = NewSchedule { overlap, ..what(timing.timing(), workflow, task)? };
            Some(raw(&schedule)?)
        }
    };
    ask(connection, QuoteAsk { schedule, schedule_name: name, month, ..QuoteAsk::default() }).await
}

fn in_file(file: &str) -> Result<RawJson, Failure> {
    let text = String::from_utf8(from_file(file)?).ok();
    let json = text.as_deref().and_then(RawJson::parse);
    json.ok_or_else(|| Failure::usage(format!("{file} is not JSON")))
}
