//! `berth workflow runs`.

use super::super::connection::Connection;
use super::super::moment::moment;
use super::super::pages::PageArguments;
use super::name::{name, state};
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{PageRequest, RunFilter, WhichSchedule, WorkflowRun};
use domain::time::Timestamp;
use domain::workflow::RunState;
use runtime::clock;

/// Which runs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth workflow runs --state running,failed --workflow load --since 7d"
)]
pub struct RunsArguments {
    /// State; comma-separated or repeated.
    #[arg(long = "state", value_delimiter = ',', value_name = "STATE", value_parser = state)]
    pub states: Vec<RunState>,
    /// Name of the workflow.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub workflow: Option<String>,
    /// Schedule that started the run, by name, or by id also for a deleted one.
    #[arg(long, value_name = "SCHEDULE")]
    pub schedule: Option<WhichSchedule>,
    /// Started at or after this time (2030-01-31T12:00:00Z, 2030-01-31) or age (2h, 7d).
    #[arg(long, value_name = "TIME|AGE", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Started before this time or age.
    #[arg(long, value_name = "TIME|AGE", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 7] = ["ID", "WORKFLOW", "STATE", "TASKS", "FAILED", "AGE", "REASON"];

/// Shows runs, latest first.
pub async fn run(connection: &Connection, arguments: &RunsArguments) -> Result<(), Failure> {
    let filter = RunFilter {
        states: arguments.states.clone(),
        workflow: arguments.workflow.clone(),
        schedule: arguments.schedule.clone(),
        created_from: arguments.since,
        created_before: arguments.until,
    };
    let table = Table::new(COLUMNS).with_states();
    let ask = async |page: &PageRequest| connection.client.workflow_runs(&filter, page).await;
    arguments.pages.show(connection.format, table, ask, |run| row(run, clock::wall())).await
}

fn row(run: &WorkflowRun, now: Timestamp) -> [String; 7] {
    [
        run.id.to_string(),
        run.workflow.clone().unwrap_or_default(),
        run.state.to_string(),
        format!("{}/{}", run.ended, run.tasks),
        run.failed.to_string(),
        age::ago(run.created_at, now),
        run.reason.clone().unwrap_or_default(),
    ]
}
