//! `berth list`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::{PageRequest, Task, TaskFilter};
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use runtime::clock;

/// Which tasks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth list --state ready,running --label team=media")]
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
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::submit::pair)]
    pub label: Option<(String, String)>,
    /// Tasks on a page, 1 to 200.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: Option<u32>,
    /// Go on where a page ended.
    #[arg(long)]
    pub cursor: Option<String>,
    /// All pages, not only one.
    #[arg(long)]
    pub all: bool,
}

const COLUMNS: [&str; 6] = ["ID", "NAME", "STATE", "TIER", "ATTEMPTS", "AGE"];

/// Shows tasks, newest first.
pub async fn run(connection: &Connection, arguments: &ListArguments) -> Result<(), Failure> {
    let filter = TaskFilter {
        states: arguments.states.clone(),
        tier: arguments.tier,
        name: arguments.name.clone(),
        label: arguments.label.clone(),
        ..TaskFilter::default()
    };
    let mut table = Table::new(COLUMNS).with_states();
    let mut next = Some(PageRequest { limit: arguments.limit, cursor: arguments.cursor.clone() });
    while let Some(request) = next.take() {
        let page =
            connection.client.list(&filter, &request).await.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => {
                let now = clock::wall();
                page.data.iter().for_each(|task| table.row(row(task, now)));
                output::text(&table.take())?;
            }
        }
        if arguments.all {
            next = page.next(&request);
        } else if let (Format::Table, Some(cursor)) = (connection.format, &page.next_cursor) {
            output::remark(&format!("There are more: add --all, or --cursor {cursor}"));
        }
    }
    Ok(())
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
