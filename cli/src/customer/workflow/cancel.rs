//! `berth workflow cancel`.

use super::super::connection::Connection;
use super::super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{CancelResult, Extensible};
use domain::id::WorkflowRunId;

/// Which run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow cancel run_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct CancelArguments {
    /// Id of the run.
    #[arg(value_name = "RUN")]
    pub run: WorkflowRunId,
}

/// Cancels the tasks of a run that have not ended.
pub async fn run(connection: &Connection, arguments: &CancelArguments) -> Result<(), Failure> {
    let answer = connection.client.cancel_workflow_run(arguments.run).await;
    let answer = answer.map_err(|error| failure(&error))?;
    if let Format::Json = connection.format {
        return output::document(answer.json());
    }
    let done = match &answer.cancel {
        Extensible::Other(done) => done.to_string(),
        Extensible::Known(CancelResult::Cancelled) => "cancelled".to_owned(),
        Extensible::Known(CancelResult::Requested) => {
            "stop requested; waiting for its tasks".to_owned()
        }
        Extensible::Known(CancelResult::AlreadyRequested) => {
            "stop was already requested; waiting for its tasks".to_owned()
        }
        Extensible::Known(CancelResult::AlreadyEnded) => {
            format!("already finished: {}", answer.run.state)
        }
    };
    output::line(&format!("{} {done}", arguments.run))
}
