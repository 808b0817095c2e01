//! How the end of a task becomes the end of the command that waited for it.

use crate::failure::{Exit, Failure};
use domain::id::TaskId;
use domain::task::State;

/// Success where the task succeeded; a failure that says how it ended otherwise.
pub(super) fn ended(
    task: TaskId,
    state: State,
    exit_code: Option<i32>,
    reason: Option<&str>,
) -> Result<(), Failure> {
    let exit = match state {
        State::Succeeded => return Ok(()),
        State::Cancelled | State::Expired | State::Skipped => Exit::NotRun,
        _ => Exit::Failed,
    };
    let mut text = format!("{task} ended {state}");
    if let Some(code) = exit_code {
        text.push_str(&format!(" with exit code {code}"));
    }
    if let Some(reason) = reason {
        text.push_str(&format!(": {}", crate::output::cell::plain(reason)));
    }
    text.push_str(&format!(". See `berth attempts {task}`"));
    Err(Failure::new(exit, text))
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
            assert_eq!(ended(task, state, None, None).unwrap_err().exit(), wanted, "{state}");
        }
        assert!(ended(task, State::Succeeded, Some(0), None).is_ok());
        let text = ended(task, State::Failed, Some(3), Some("exit")).unwrap_err().to_string();
        assert!(text.contains("with exit code 3: exit"), "{text}");
    }
}
