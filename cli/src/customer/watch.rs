//! `berth watch`: a table that keeps itself up to date.
//!
//! On a terminal it is drawn again in place; elsewhere each change is a line, so that a log stays readable.

use super::connection::Connection;
use super::ended::ended;
use super::failure::failure;
use super::list::attempts;
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::{Extensible, PageRequest, Task, TaskFilter};
use domain::id::TaskId;
use domain::task::State;
use domain::time::{Timestamp, parse_duration};
use runtime::clock;
use std::collections::HashMap;
use std::time::Duration;

/// Which tasks.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth watch                      # the newest tasks, until ctrl-C\n  \
                  berth watch $(berth submit -- sleep 5)   # one task; the exit code is its result"
)]
pub struct WatchArguments {
    /// Ids of tasks. Default: the newest tasks.
    #[arg(value_name = "ID")]
    pub ids: Vec<TaskId>,
    /// Poll interval.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1s")]
    pub every: Duration,
}

const COLUMNS: [&str; 6] = ["ID", "NAME", "STATE", "ATTEMPTS", "AGE", "EXECUTOR"];
/// Newest tasks shown when none is named.
const NEWEST: u32 = 20;

/// Watches until all named tasks have ended; fails where one did not succeed.
pub async fn run(connection: &Connection, arguments: &WatchArguments) -> Result<(), Failure> {
    let redrawn = connection.format == Format::Table && output::is_terminal();
    let mut known: HashMap<TaskId, (Extensible<State>, u32)> = HashMap::new();
    let mut changes = Table::new(COLUMNS).with_states();
    loop {
        let tasks = look(connection, arguments).await?;
        let now = clock::wall();
        if redrawn {
            let mut table = Table::new(COLUMNS).with_states();
            tasks.iter().for_each(|task| table.row(row(task, now)));
            output::redraw(&table.take())?;
        } else {
            for task in &tasks {
                let state = (task.state.clone(), task.attempts);
                let changed = known.insert(task.id, state.clone()) != Some(state);
                match connection.format {
                    Format::Table if changed => changes.row(row(task, now)),
                    Format::Json if changed => output::line(
                        &serde_json::json!({"id": task.id.to_string(), "state": task.state,
                            "attempts": task.attempts, "exit_code": task.exit_code, "reason": task.reason})
                        .to_string(),
                    )?,
                    Format::Table | Format::Json => {}
                }
            }
            output::text(&changes.take())?;
        }
        if !arguments.ids.is_empty() && tasks.iter().all(Task::is_finished) {
            let ends = tasks
                .iter()
                .map(|task| ended(task.id, &task.state, task.exit_code, task.reason.as_deref()));
            return ends.collect();
        }
        clock::sleep(arguments.every.max(Duration::from_millis(100))).await;
    }
}

async fn look(connection: &Connection, arguments: &WatchArguments) -> Result<Vec<Task>, Failure> {
    if arguments.ids.is_empty() {
        let page = PageRequest { limit: Some(NEWEST), cursor: None };
        let page = connection.client.list(&TaskFilter::default(), &page).await;
        return page.map(|page| page.into_value().data).map_err(|error| failure(&error));
    }
    let mut tasks = Vec::with_capacity(arguments.ids.len());
    for id in &arguments.ids {
        tasks.push(connection.client.get(*id).await.map_err(|error| failure(&error))?.into_value());
    }
    Ok(tasks)
}

fn row(task: &Task, now: Timestamp) -> [String; 6] {
    [
        task.id.to_string(),
        task.name.clone().unwrap_or_default(),
        task.state.to_string(),
        attempts(task),
        age::short(task.finished_at.unwrap_or(now) - task.created_at),
        task.executor.as_ref().map(ToString::to_string).unwrap_or_default(),
    ]
}
