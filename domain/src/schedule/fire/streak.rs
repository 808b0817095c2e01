//! Consecutive failures of a schedule's tasks or runs.

use crate::task::State;

/// Consecutive tasks of a schedule without success, by their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureStreak {
    /// The number.
    pub failures: u32,
    /// Number at which the schedule is paused; `None`: never.
    pub pause_after: Option<u32>,
}

impl FailureStreak {
    /// Largest setting.
    pub const MOST: u32 = 1000;

    /// Records the end of a task in `state`; returns whether the limit is reached. Cancelled and skipped tasks do not
    /// count.
    pub fn ended(&mut self, state: State) -> bool {
        match state {
            State::Succeeded => self.failures = 0,
            State::Failed | State::Aborted | State::Killed | State::Expired => {
                self.failures = self.failures.saturating_add(1);
                return self.pause_after.is_some_and(|enough| self.failures >= enough);
            }
            State::Cancelled
            | State::Skipped
            | State::Scheduled
            | State::Ready
            | State::Queued
            | State::Running
            | State::Cancelling
            | State::Retrying => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_count_a_success_forgets_them_and_a_cancel_says_nothing() {
        let mut streak = FailureStreak { failures: 0, pause_after: Some(3) };
        let mut said = Vec::new();
        for state in [
            State::Failed,
            State::Killed,
            State::Succeeded,
            State::Expired,
            State::Cancelled,
            State::Aborted,
            State::Skipped,
            State::Failed,
            State::Failed,
        ] {
            said.push((streak.ended(state), streak.failures));
        }
        let wanted = [
            (false, 1),
            (false, 2),
            (false, 0),
            (false, 1),
            (false, 1),
            (false, 2),
            (false, 2),
            (true, 3),
            (true, 4),
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn without_a_limit_nothing_is_enough() {
        let mut streak = FailureStreak::default();
        assert!((0..2000).all(|_| !streak.ended(State::Failed)));
        assert_eq!(streak.failures, 2000);
    }
}
