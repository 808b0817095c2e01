//! The one table of legal moves.
//!
//! `store` writes the state column with one statement an event; a test runs every statement from
//! every state and compares it with this table. An event that finds no row here changes nothing.

use super::{Event, State};

/// One legal move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The state before.
    pub from: State,
    /// What happened.
    pub event: Event,
    /// The state after.
    pub to: State,
}

/// The state after `event` in `from`, or `None` where the event does not apply.
///
/// In `cancelling` only a success still ends `succeeded`; every other end of the lease, a retry
/// included, ends `cancelled`: nobody restarts what its owner asked to stop.
#[must_use]
pub const fn next(from: State, event: Event) -> Option<State> {
    use Event as E;
    use State as S;
    Some(match (event, from) {
        (E::Due, S::Scheduled | S::Retrying) => S::Ready,
        (E::Dispatched, S::Ready) => S::Queued,
        (E::DispatchStale | E::Unplaced, S::Queued) => S::Ready,
        (E::Placed, S::Queued) => S::Running,

        (E::Called, S::Running) => S::Running,
        (E::Completed, S::Running | S::Cancelling) => S::Succeeded,
        (E::AttemptFailed | E::LeaseLapsed | E::ReturnedAgain, S::Running) => S::Retrying,
        (E::AttemptsExhausted | E::LeaseLapsedForGood, S::Running) => S::Failed,
        (E::AttemptAborted, S::Running) => S::Aborted,
        (E::AttemptKilled, S::Running) => S::Killed,
        (E::HandedBack | E::NotStarted, S::Running) => S::Ready,
        (
            E::AttemptFailed
            | E::AttemptsExhausted
            | E::AttemptAborted
            | E::AttemptKilled
            | E::LeaseLapsed
            | E::LeaseLapsedForGood
            | E::HandedBack
            | E::NotStarted
            | E::ReturnedAgain
            | E::Called
            | E::Stopped,
            S::Cancelling,
        ) => S::Cancelled,

        (E::CancelRequested, S::Scheduled | S::Ready | S::Queued | S::Retrying) => S::Cancelled,
        (E::CancelRequested, S::Running) => S::Cancelling,
        (E::Expired, S::Scheduled | S::Ready | S::Retrying) => S::Expired,
        (E::Released, S::Scheduled) => S::Ready,
        (E::Skipped, S::Scheduled) => S::Skipped,
        (E::Prepared, S::Scheduled) => S::Ready,
        (E::PrepareFailed, S::Scheduled) => S::Failed,
        (E::WaitOver, S::Scheduled) => S::Succeeded,
        (E::Rejected, S::Scheduled) => S::Aborted,

        (E::RunNow, S::Scheduled | S::Retrying) | (E::Recalled, S::Queued) => S::Ready,
        (E::MarkedSucceeded, S::Scheduled | S::Ready | S::Queued | S::Retrying) => S::Succeeded,
        (E::Postponed, S::Ready | S::Queued) => S::Scheduled,
        _ => return None,
    })
}

/// Every legal move, by state and then by event.
pub fn moves() -> impl Iterator<Item = Move> {
    State::ALL.iter().copied().flat_map(|from| {
        Event::ALL
            .iter()
            .filter_map(move |&event| next(from, event).map(|to| Move { from, event, to }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nothing_leaves_a_terminal_state() {
        for m in moves() {
            assert!(!m.from.is_terminal(), "{m:?}");
        }
    }

    #[test]
    fn every_event_moves_something_and_every_live_state_can_be_left() {
        for &event in Event::ALL {
            assert!(moves().any(|m| m.event == event), "{event}");
        }
        for state in State::ALL.iter().copied().filter(|s| !s.is_terminal()) {
            assert!(moves().any(|m| m.from == state), "{state}");
        }
    }

    #[test]
    fn a_lease_is_gained_only_by_placement() {
        for m in moves().filter(|m| m.to.is_leased() && !m.from.is_leased()) {
            assert_eq!(m.event, Event::Placed);
        }
    }

    #[test]
    fn what_was_asked_to_stop_never_runs_again() {
        for m in moves().filter(|m| m.from == State::Cancelling) {
            assert!(matches!(m.to, State::Cancelled | State::Succeeded), "{m:?}");
        }
    }

    #[test]
    fn only_waiting_tasks_expire() {
        let expiring: BTreeSet<_> =
            moves().filter(|m| m.to == State::Expired).map(|m| m.from).collect();
        assert_eq!(expiring, BTreeSet::from([State::Scheduled, State::Ready, State::Retrying]));
    }

    #[test]
    fn each_live_state_reaches_an_end() {
        for &start in State::ALL {
            let mut seen = BTreeSet::from([start]);
            let mut front = vec![start];
            while let Some(state) = front.pop() {
                for m in moves().filter(|m| m.from == state) {
                    if seen.insert(m.to) {
                        front.push(m.to);
                    }
                }
            }
            assert!(seen.iter().any(|s| s.is_terminal()), "{start}");
        }
    }
}
