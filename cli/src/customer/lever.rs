//! `berth retry`, `berth run-now` and `berth mark-succeeded`: levers that move one task.
//!
//! `retry` prints the id of the task that runs then and nothing else: the same one, or a new one.

use super::connection::Connection;
use super::failure::failure;
use super::submit::{not_submitted, show as show_id};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{ApiResponse, IdempotencyKey, Task};
use domain::id::TaskId;

/// Which task to try again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth retry task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n\n\
                  A task that waits for a retry is due now. An ended task, in any state, is run again as a new task; `rerun_of` of the\n\
                  new one refers to it. To change fields, use `berth rerun`.")]
pub struct RetryArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Idempotency key: repeating the command with the same key tries the task again only once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Which task is not to wait.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth run-now task_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct RunNowArguments {
    /// Id of the task.
    pub id: TaskId,
}

/// Which task was done by other means.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth mark-succeeded task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --note 'loaded by hand'\n\n\
                  A running task must be cancelled first."
)]
pub struct MarkSucceededArguments {
    /// Id of the task.
    pub id: TaskId,
    /// How it was done, or why it need not be; 1 to 500 characters.
    #[arg(long, value_name = "TEXT")]
    pub note: String,
}

/// Tries a task again and prints the id of the one that runs then.
pub async fn retry(connection: &Connection, arguments: &RetryArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    let task = connection.client.retry(arguments.id, key.clone()).await;
    show_id(connection.format, &task.map_err(|error| not_submitted(&error, &key))?)
}

/// Lets a task run without waiting for its time.
pub async fn run_now(connection: &Connection, arguments: &RunNowArguments) -> Result<(), Failure> {
    let task = connection.client.run_now(arguments.id).await;
    show(connection.format, &task.map_err(|error| failure(&error))?)
}

/// Marks a task as succeeded.
pub async fn mark_succeeded(
    connection: &Connection,
    arguments: &MarkSucceededArguments,
) -> Result<(), Failure> {
    let task = connection.client.mark_succeeded(arguments.id, &arguments.note).await;
    show(connection.format, &task.map_err(|error| failure(&error))?)
}

fn show(format: Format, task: &ApiResponse<Task>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(task.json()),
        Format::Table => output::line(&format!("{} {}", task.id, task.state)),
    }
}
