//! `berth list`.

use super::connection::Connection;
use super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{PageRequest, Task, TaskFilter};
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use runtime::clock;

/// Which tasks.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth list --state ready,running --label team=media\n  berth list --schedule report --state failed"
)]
pub struct ListArguments {
    /// In one of these states, with commas or given several times.
    #[arg(long = "state", value_delimiter = ',', value_name = "STATE")]
    pub states: Vec<State>,
    /// Of this tier.
    #[arg(long)]
    pub tier: Option<Tier>,
    /// Of exactly this name.
    #[arg(long)]
    pub name: Option<String>,
    /// With this label.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::task_arguments::pair)]
    pub label: Option<(String, String)>,
    /// Made by the schedule of this name or id.
    #[arg(long, value_name = "NAME_OR_ID")]
    pub schedule: Option<String>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 6] = ["ID", "NAME", "STATE", "TIER", "ATTEMPTS", "AGE"];

/// Shows tasks, newest first.
pub async fn run(connection: &Connection, arguments: &ListArguments) -> Result<(), Failure> {
    let filter = TaskFilter {
        states: arguments.states.clone(),
        tier: arguments.tier,
        name: arguments.name.clone(),
        label: arguments.label.clone(),
        schedule: arguments.schedule.clone(),
        ..TaskFilter::default()
    };
    let table = Table::new(COLUMNS).with_states();
    let ask = async |page: &PageRequest| connection.client.list(&filter, page).await;
    arguments.pages.show(connection.format, table, ask, |task| row(task, clock::wall())).await
}

fn row(task: &Task, now: Timestamp) -> [String; 6] {
    [
        task.id.to_string(),
        task.name.clone().unwrap_or_default(),
        task.state.to_string(),
        task.tier.map(|tier| tier.to_string()).unwrap_or_default(),
        format!("{}/{}", task.attempts, task.max_attempts),
        age::short(now - task.created_at),
    ]
}
