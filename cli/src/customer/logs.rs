//! `berth logs`.
//!
//! The task's bytes go where the task wrote them: standard output or standard error, unchanged.

use super::connection::Connection;
use super::failure::failure;
use super::follow::follow;
use super::log_reader::Reader;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{LogFilter, PageRequest, Since, Stream};
use domain::id::TaskId;

/// Which output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth logs task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --stream stdout > result.txt\n  \
                  berth logs -f task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth logs --tail 20 --timestamps task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth logs --since 10m task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"
)]
pub struct LogsArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Attempt, from 1. Default: all, in order.
    #[arg(long)]
    pub attempt: Option<u32>,
    /// Only stdout or stderr.
    #[arg(long, value_name = "STREAM")]
    pub stream: Option<Stream>,
    /// Only the last N lines, 0 to 10000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub tail: Option<u32>,
    /// Only output stored since this time (2030-01-31T12:00:00Z) or age (10m).
    #[arg(long, value_name = "TIME|DURATION")]
    pub since: Option<Since>,
    /// Prefix each line with the time it was stored.
    #[arg(long, short = 't')]
    pub timestamps: bool,
    /// Follow until the task has finished; the exit code is its result.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

/// Writes a task's output.
pub async fn run(connection: &Connection, arguments: &LogsArguments) -> Result<(), Failure> {
    let LogsArguments { id, attempt, stream, tail, since, timestamps, follow: follows } =
        *arguments;
    let filter = LogFilter { attempt, stream, tail, since };
    let mut reader = Reader::new(&filter, timestamps);
    if follows {
        return follow(connection, id, filter, reader).await;
    }
    let mut next = Some(PageRequest::default());
    while let Some(request) = next.take() {
        let page =
            connection.client.logs(id, filter, &request).await.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => page.data.iter().try_for_each(|chunk| reader.write(chunk))?,
        }
        next = page.next(&request);
    }
    Ok(())
}
