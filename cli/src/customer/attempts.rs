//! `berth attempts`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::{Attempt, PageRequest};
use domain::id::TaskId;
use domain::time::Timestamp;
use runtime::clock;

/// Which task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth attempts task_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct AttemptsArguments {
    /// Id of the task.
    pub id: TaskId,
}

const COLUMNS: [&str; 8] =
    ["ATTEMPT", "STATE", "COUNTS TO LIMIT", "EXECUTOR", "PLACED", "TOOK", "EXIT", "REASON"];

/// Shows all tries of a task, in order.
pub async fn run(connection: &Connection, arguments: &AttemptsArguments) -> Result<(), Failure> {
    let mut table = Table::new(COLUMNS);
    let mut next = Some(PageRequest::default());
    while let Some(request) = next.take() {
        let page = connection
            .client
            .attempts(arguments.id, &request)
            .await
            .map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => {
                let now = clock::wall();
                page.data.iter().for_each(|attempt| table.row(row(attempt, now)));
                output::text(&table.take())?;
            }
        }
        next = page.next(&request);
    }
    Ok(())
}

fn row(attempt: &Attempt, now: Timestamp) -> [String; 8] {
    let exit = match (attempt.exit_code, attempt.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => String::new(),
    };
    // Whether one that still runs will count is not known yet.
    let counts = match (attempt.ended_at, attempt.charged) {
        (None, _) => "",
        (Some(_), true) => "yes",
        (Some(_), false) => "no",
    };
    [
        attempt.attempt.to_string(),
        attempt.state.to_string(),
        counts.to_owned(),
        attempt.executor.as_ref().map(ToString::to_string).unwrap_or_default(),
        age::ago(attempt.placed_at, now),
        age::exact(attempt.ended_at.unwrap_or(now) - attempt.placed_at),
        exit,
        attempt.reason.clone().unwrap_or_default(),
    ]
}
