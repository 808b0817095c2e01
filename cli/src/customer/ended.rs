//! How the end of a task becomes the end of the command that waited for it.

use crate::failure::{Exit, Failure};
use client::Extensible;
use domain::id::TaskId;
use domain::task::State;

/// Success where the task succeeded; a failure that says how it ended otherwise.
pub(super) fn ended(
    task: TaskId,
    state: &Extensible<State>,
    exit_code: Option<i32>,
    reason: Option<&str>,
) -> Result<(), Failure> {
    let exit = match state.known() {
        Some(State::Succeeded) => return Ok(()),
        Some(State::Cancelled | State::Expired | State::Skipped) => Exit::NotRun,
        _ => Exit::Failed,
    };
    let said = how(state, exit_code, reason);
    Err(Failure::new(exit, format!("{task} {said}. See `berth attempts {task}`")))
}

/// How a task ended, as in "failed with exit code 3".
pub(super) fn how(
    state: &Extensible<State>,
    exit_code: Option<i32>,
    reason: Option<&str>,
) -> String {
    let reason = reason.map(crate::output::cell::plain);
    client::sentences::how(state, exit_code, reason.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_is_a_success() {
        let task = TaskId::fresh();
        for (state, wanted) in [
            (State::Failed, Exit::Failed),
            (State::Aborted, Exit::Failed),
            (State::Killed, Exit::Failed),
            (State::Cancelled, Exit::NotRun),
            (State::Expired, Exit::NotRun),
            (State::Skipped, Exit::NotRun),
        ] {
            assert_eq!(
                ended(task, &state.into(), None, None).unwrap_err().exit(),
                wanted,
                "{state}"
            );
        }
        assert!(ended(task, &State::Succeeded.into(), Some(0), None).is_ok());
        let text =
            ended(task, &State::Failed.into(), Some(3), Some("exit")).unwrap_err().to_string();
        assert!(text.contains("failed with exit code 3: exit"), "{text}");
    }

    #[test]
    fn an_exit_code_is_said_once() {
        let reason = Some("ended with exit code 3");
        assert_eq!(how(&State::Failed.into(), Some(3), reason), "failed with exit code 3");
        assert_eq!(
            how(&State::Aborted.into(), Some(4), reason),
            "was aborted with exit code 4: ended with exit code 3"
        );
        assert_eq!(how(&State::Killed.into(), None, Some("ran for 1s")), "was killed: ran for 1s");
        assert_eq!(how(&State::Expired.into(), None, None), "expired");
    }
}
