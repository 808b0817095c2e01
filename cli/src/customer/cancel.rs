//! `berth cancel`.
//!
//! Each task is asked for by itself, in the order given, and each answer is printed as it comes. What fails for one does not keep the
//! others from being cancelled, but for a server that cannot be reached.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format};
use client::{ApiResponse, CancelResult, CancelledTask, Extensible};
use domain::id::TaskId;

/// Which tasks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  berth cancel task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth cancel $(berth list --label batch=42 --all --output json | jq -r '.data[].id')\n\n\
                  With several tasks, the exit code is the worst one.")]
pub struct CancelArguments {
    /// Ids of the tasks.
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<TaskId>,
}

/// Cancels tasks, or asks them to stop.
pub async fn run(connection: &Connection, arguments: &CancelArguments) -> Result<(), Failure> {
    let mut failed: Vec<Failure> = Vec::new();
    for id in &arguments.ids {
        match connection.client.cancel(*id).await {
            Ok(answer) => show(connection.format, *id, &answer)?,
            Err(error) => {
                let failure = failure(&error);
                let unreachable = failure.exit() == Exit::Unreachable;
                if arguments.ids.len() > 1 && !unreachable {
                    output::complain(&failure);
                }
                failed.push(failure);
                if unreachable {
                    break;
                }
            }
        }
    }
    worst(failed, arguments.ids.len())
}

/// The failure to end with: the only one as it is, of several the worst code.
fn worst(mut failed: Vec<Failure>, asked: usize) -> Result<(), Failure> {
    let number = failed.len();
    let at = (0..number).max_by_key(|at| failed[*at].exit() as u8);
    let Some(worst) = at.map(|at| failed.swap_remove(at)) else { return Ok(()) };
    if asked == 1 || worst.exit() == Exit::Unreachable {
        return Err(worst);
    }
    Err(Failure::new(worst.exit(), format!("{number} of {asked} tasks could not be cancelled")))
}

fn show(format: Format, id: TaskId, answer: &ApiResponse<CancelledTask>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(answer.json()),
        Format::Table => {
            let done = match &answer.cancel {
                Extensible::Other(done) => done.to_string(),
                Extensible::Known(CancelResult::Cancelled) => "cancelled".to_owned(),
                Extensible::Known(CancelResult::Requested) => {
                    "stop requested; waiting for the executor".to_owned()
                }
                Extensible::Known(CancelResult::AlreadyRequested) => {
                    "stop was already requested; waiting for the executor".to_owned()
                }
                Extensible::Known(CancelResult::AlreadyEnded) => {
                    format!("already finished: {}", answer.task.state)
                }
            };
            output::line(&format!("{id} {done}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_failures_the_worst_code_is_the_commands() {
        let of = |exits: &[Exit], asked| {
            let failed = exits.iter().map(|exit| Failure::new(*exit, "x")).collect();
            worst(failed, asked).map_err(|failure| failure.exit())
        };
        assert_eq!(of(&[], 3), Ok(()));
        assert_eq!(of(&[Exit::NotFound], 1), Err(Exit::NotFound));
        assert_eq!(of(&[Exit::Failed, Exit::NotFound, Exit::Failed], 3), Err(Exit::NotFound));
        assert_eq!(of(&[Exit::NotFound, Exit::Unreachable], 4), Err(Exit::Unreachable));
    }
}
