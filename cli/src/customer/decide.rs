//! `berth approve` and `berth reject`: a person decides what a node of a workflow waits for.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{ApiResponse, Task};
use domain::id::TaskId;

/// Which task to approve.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth approve task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --note 'the numbers are right'\n\n\
                  `berth workflow graph RUN` shows the tasks that wait for approval. The key needs the scope `approve`."
)]
pub struct ApproveArguments {
    /// Id of the task.
    #[arg(value_name = "TASK")]
    pub id: TaskId,
    /// Why; 1 to 500 characters.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// Which task to reject.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth reject task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --note 'the numbers are wrong'\n\n\
                  The task ends aborted. The key needs the scope `approve`."
)]
pub struct RejectArguments {
    /// Id of the task.
    #[arg(value_name = "TASK")]
    pub id: TaskId,
    /// Why; 1 to 500 characters.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// Approves a task.
pub async fn approve(connection: &Connection, arguments: &ApproveArguments) -> Result<(), Failure> {
    let task = connection.client.approve(arguments.id, arguments.note.as_deref()).await;
    show(connection.format, &task.map_err(|error| failure(&error))?)
}

/// Rejects a task.
pub async fn reject(connection: &Connection, arguments: &RejectArguments) -> Result<(), Failure> {
    let task = connection.client.reject(arguments.id, arguments.note.as_deref()).await;
    show(connection.format, &task.map_err(|error| failure(&error))?)
}

fn show(format: Format, task: &ApiResponse<Task>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(task.json()),
        Format::Table => output::line(&format!("{} {}", task.id, task.state)),
    }
}
