//! `berth schedule list`.

use super::super::connection::Connection;
use super::super::pages::PageArguments;
use super::show::json;
use super::words::when;
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{PageRequest, Schedule};
use domain::time::Timestamp;
use runtime::clock;

/// Which schedules.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth schedule list --all")]
pub struct ScheduleListArguments {
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 6] = ["NAME", "STATE", "DUE", "NEXT", "FIRES", "CHANGED"];

/// Shows schedules, by name.
pub async fn run(
    connection: &Connection,
    arguments: &ScheduleListArguments,
) -> Result<(), Failure> {
    let ask = async |page: &PageRequest| connection.client.schedules(page).await;
    let row = |schedule: &Schedule| row(schedule, clock::wall());
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

fn row(schedule: &Schedule, now: Timestamp) -> [String; 6] {
    [
        schedule.name.clone(),
        schedule.state.to_string(),
        when(&json(&schedule.timing)),
        schedule.next_due_at.map(|at| age::ago(at, now)).unwrap_or_default(),
        schedule.fires.to_string(),
        age::ago(schedule.updated_at, now),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_when_it_is_due_and_how_soon() {
        let schedule = super::super::show::tests::example();
        let row = row(&schedule, "2030-01-31T12:00:00Z".parse().unwrap());
        assert_eq!(
            row,
            ["report", "paused", "30 2 * * * (America/New_York)", "in 19h", "2", "1h ago"]
        );
    }
}
