//! `berth result`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output;
use domain::id::TaskId;

/// Which task.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code 3 where there is no result.\n\nExample:\n  berth result task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 | jq .total"
)]
pub struct ResultArguments {
    /// Id of the task.
    pub id: TaskId,
}

/// Prints the JSON value that a task returned, as it was written.
pub async fn run(connection: &Connection, arguments: &ResultArguments) -> Result<(), Failure> {
    let result = connection.client.result(arguments.id).await.map_err(|error| failure(&error))?;
    output::document(result.json())
}
