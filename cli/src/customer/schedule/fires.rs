//! `berth schedule fires`.

use super::super::connection::Connection;
use super::super::pages::PageArguments;
use super::show::{exact, name};
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{Fire, PageRequest};
use domain::schedule::Outcome;

/// Which fires.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth schedule fires report --outcome late,skipped_overlap")]
pub struct FiresArguments {
    /// Name of the schedule.
    #[arg(value_parser = name)]
    pub name: String,
    /// Outcome; comma-separated or repeated.
    #[arg(long = "outcome", value_delimiter = ',', value_name = "OUTCOME")]
    pub outcomes: Vec<Outcome>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 6] = ["DUE", "OUTCOME", "AFTER", "KIND", "MADE", "DETAIL"];

/// Shows what became of a schedule's due times, newest first.
pub async fn run(connection: &Connection, arguments: &FiresArguments) -> Result<(), Failure> {
    let ask = async |page: &PageRequest| {
        connection.client.schedule_fires(&arguments.name, &arguments.outcomes, page).await
    };
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

fn row(fire: &Fire) -> [String; 6] {
    [
        exact(fire.due_at),
        fire.outcome.to_string(),
        age::exact((fire.fired_at - fire.due_at).max(chrono::TimeDelta::zero())),
        fire.kind.to_string(),
        made(fire).unwrap_or_default(),
        fire.detail.clone().unwrap_or_default(),
    ]
}

/// The id of the task or the workflow run that it made.
pub(super) fn made(fire: &Fire) -> Option<String> {
    let run = || fire.workflow_run.map(|run| run.to_string());
    fire.task.map(|task| task.to_string()).or_else(run)
}
