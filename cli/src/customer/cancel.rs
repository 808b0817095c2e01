//! `berth cancel`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::CancelDone;
use domain::id::TaskId;

/// Which task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth cancel task_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct CancelArguments {
    /// Id of the task.
    pub id: TaskId,
}

/// Cancels a task, or asks it to stop.
pub async fn run(connection: &Connection, arguments: &CancelArguments) -> Result<(), Failure> {
    let answer = connection.client.cancel(arguments.id).await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(answer.json()),
        Format::Table => {
            let done = match answer.cancel {
                CancelDone::Cancelled => "cancelled".to_owned(),
                CancelDone::Requested => {
                    "asked to stop; it ends once its executor confirms".to_owned()
                }
                CancelDone::AlreadyRequested => {
                    "was asked to stop before; it ends once its executor confirms".to_owned()
                }
                CancelDone::AlreadyEnded => format!("had ended before: {}", answer.task.state),
            };
            output::line(&format!("{} {done}", arguments.id))
        }
    }
}
