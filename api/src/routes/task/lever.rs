//! What the levers of a task share: what is said where one is refused, and what is answered where it moved the task.

use super::get::read;
use crate::answer::{Answer, to_json};
use crate::call::{Call, idempotency_key, key_reused};
use crate::problem::{Code, Problem, of_write};
use crate::task::task;
use api_types::Task;
use bus::Topic;
use domain::task::{Lever, Refusal, State};
use store::idempotency::Once;
use store::task::TaskRecord;
use store::task::lever::{LeverAnswer, Pull, PulledLever, pull};

/// What became of a lever.
pub(super) enum Pulled {
    /// The answer.
    Answer(Box<Answer<Task>>),
    /// The task has ended; a new one is to run it again.
    NewTask,
}

/// Pulls `lever` of the task in the path.
///
/// # Errors
/// `not_found`; `task_waiting`, `task_running`, `task_ended`; `idempotency_key_reuse`; what the database said.
pub(super) async fn pulled(
    call: &Call,
    (lever, of): (Lever, PulledLever<'_>),
) -> Result<Pulled, Problem> {
    let (id, key) = (call.task_id()?, idempotency_key(call)?);
    // Not where the plan keeps it no longer.
    read(call, id).await?;
    let (db, scope) = (&call.state.api, call.scope());
    let kept = |record: &TaskRecord| to_json(&task(record.clone())).unwrap_or_default();
    let asked = Pull { task: id, lever: of, once: key.as_ref() };
    match pull(db, &scope, asked, kept).await.map_err(of_write)? {
        Once::Done(LeverAnswer::Done(record)) => {
            // Of one that succeeded by it, children may be ready, or left to the schedulers.
            call.state.bus.wake(Topic::Batcher);
            if record.state == State::Succeeded {
                call.state.bus.wake(Topic::ShardOwner);
            }
            Ok(Pulled::Answer(Box::new(Answer::ok(task(*record)))))
        }
        Once::Done(LeverAnswer::Nothing(record)) => {
            Ok(Pulled::Answer(Box::new(Answer::ok(task(*record)))))
        }
        Once::Done(LeverAnswer::NewTask) => Ok(Pulled::NewTask),
        Once::Done(LeverAnswer::Refused(refusal)) => Err(refused(lever, refusal)),
        Once::Done(LeverAnswer::NotFound) => Err(Problem::not_found()),
        Once::Replayed { status, body } => {
            Ok(Pulled::Answer(Box::new(Answer::replayed(status, body))))
        }
        Once::KeyReused => Err(key_reused()),
    }
}

/// The same of a lever that makes no new task.
///
/// # Errors
/// As [`pulled`].
pub(super) async fn moved(
    call: &Call,
    (lever, of): (Lever, PulledLever<'_>),
) -> Result<Answer<Task>, Problem> {
    match pulled(call, (lever, of)).await? {
        Pulled::Answer(answer) => Ok(*answer),
        // The table of levers says otherwise.
        Pulled::NewTask => Err(Problem::new(Code::Internal, Code::Internal.advice())),
    }
}

/// Why `lever` does nothing, and what does.
pub(super) fn refused(lever: Lever, refusal: Refusal) -> Problem {
    let code = match refusal {
        Refusal::Waiting => Code::TaskWaiting,
        Refusal::Running => Code::TaskRunning,
        Refusal::Ended => Code::TaskEnded,
    };
    Problem::new(code, sentence(lever, refusal))
}

const fn sentence(lever: Lever, refusal: Refusal) -> &'static str {
    match (lever, refusal) {
        (Lever::RunNow | Lever::Change | Lever::MarkSucceeded, Refusal::Waiting) => {
            "The task waits for its items, a signal or a person, and not for a time. Send the signal, approve it, or use `mark-succeeded`."
        }
        (Lever::Retry | Lever::Rerun, Refusal::Waiting) => {
            "The task waits, and no attempt of it has failed. To start it without waiting for its time, use `run-now`."
        }
        (Lever::RunNow, Refusal::Running) => "The task is already running.",
        (Lever::Change, Refusal::Running) => {
            "A running task cannot be changed. Cancel it, and use `rerun` with the changes."
        }
        (Lever::MarkSucceeded, Refusal::Running) => {
            "A running task must be stopped first: cancel it. It ends `cancelled`; a `rerun` of it that is not due yet can be marked."
        }
        (Lever::Retry | Lever::Rerun, Refusal::Running) => {
            "The task is running. Wait until it has ended, or cancel it; or use `rerun` now."
        }
        (Lever::MarkSucceeded, Refusal::Ended) => {
            "An ended task keeps its state. To run it again, use `retry`, or `rerun` with changes."
        }
        (Lever::RunNow | Lever::Change | Lever::Retry | Lever::Rerun, Refusal::Ended) => {
            "The task has ended. To run it again, use `retry`, or `rerun` with changes."
        }
    }
}
