//! `berth list`.

use super::connection::Connection;
use super::moment::moment;
use super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::{Table, age};
use chrono::SecondsFormat;
use client::{LabelFilter, PageRequest, Task, TaskFilter, WhichSchedule};
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use runtime::clock;

/// Which tasks.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth list --state ready,running --label team=media --label env!=prod\n  berth list --since 2h --state failed\n  \
                  berth list --schedule report --since 2030-01-01 --until 2030-02-01 --all"
)]
pub struct ListArguments {
    /// State; comma-separated or repeated.
    #[arg(long = "state", value_delimiter = ',', value_name = "STATE")]
    pub states: Vec<State>,
    /// Tier.
    #[arg(long)]
    pub tier: Option<Tier>,
    /// Exact name.
    #[arg(long)]
    pub name: Option<String>,
    /// Label to have (KEY=VALUE) or not to have (KEY!=VALUE); repeatable, all must match.
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<LabelFilter>,
    /// Schedule that created the task, by name or id.
    #[arg(long, value_name = "NAME_OR_ID")]
    pub schedule: Option<WhichSchedule>,
    /// Submitted at or after this time (2030-01-31T12:00:00Z, 2030-01-31) or age (2h, 7d).
    #[arg(long, value_name = "TIME|AGE", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Submitted before this time or age.
    #[arg(long, value_name = "TIME|AGE", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// Include the spec, for `--output json`; large pages are shorter.
    #[arg(long, value_enum, value_name = "PART")]
    pub include: Option<Part>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

/// What a list shows only when it is asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// What a task runs.
    Run,
}

const COLUMNS: [&str; 9] =
    ["ID", "NAME", "STATE", "TIER", "ATTEMPTS", "AGE", "DUE", "SCHEDULE", "REASON"];

/// Shows tasks, newest first.
pub async fn run(connection: &Connection, arguments: &ListArguments) -> Result<(), Failure> {
    let filter = TaskFilter {
        states: arguments.states.clone(),
        tier: arguments.tier,
        name: arguments.name.clone(),
        labels: arguments.labels.clone(),
        schedule: arguments.schedule.clone(),
        created_from: arguments.since,
        created_before: arguments.until,
        with_run: arguments.include == Some(Part::Run),
    };
    let table = Table::new(COLUMNS).with_states();
    let ask = async |page: &PageRequest| connection.client.list(&filter, page).await;
    arguments.pages.show(connection.format, table, ask, |task| row(task, clock::wall())).await
}

fn row(task: &Task, now: Timestamp) -> [String; 9] {
    [
        task.id.to_string(),
        task.name.clone().unwrap_or_default(),
        task.state.to_string(),
        task.tier.as_ref().map(ToString::to_string).unwrap_or_default(),
        attempts(task),
        age::short(now - task.created_at),
        task.due_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        task.schedule_name.clone().unwrap_or_default(),
        task.reason.clone().unwrap_or_default(),
    ]
}

/// How often a task was started. Not beside its limit: an attempt that was lost with its executor does not count against that, so there
/// may be more of them.
pub(super) fn attempts(task: &Task) -> String {
    task.attempts.to_string()
}
