//! Levers: what the owner of one task may do to it by hand, and the rule of each for every state.
//!
//! The one table is [`Effect::of`]. `store` asks it under the lock of the task's row, the API says what is refused, and a test holds
//! docs/task-lifecycle.md equal to it. A state that waits for more than its time (for parents) gets its rule here.

use super::{Event, State};

/// One lever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Lever {
    /// Try again: now where a retry waits, as a new task where it has ended.
    Retry,
    /// Run it again as a new task, with changed fields.
    Rerun,
    /// Do not wait for its time.
    RunNow,
    /// It was done by other means.
    MarkSucceeded,
    /// Change its fields before it runs.
    Change,
}

impl Lever {
    /// Every lever.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in paths, docs and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a lever does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It is due now: [`Event::RunNow`].
    DueNow,
    /// It ends succeeded: [`Event::MarkedSucceeded`].
    Succeeds,
    /// Its fields change, and its state where [`event_of_change`] says so.
    Changes,
    /// A new task with `rerun_of`. It itself stays as it is.
    NewTask,
    /// It is as the lever would make it.
    Nothing,
}

/// Why a lever does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
pub enum Refusal {
    /// It waits, and has no failure to try again; or it waits for its items, a signal or a person, and not for a time.
    #[strum(serialize = "task_waiting")]
    Waiting,
    /// It runs.
    #[strum(serialize = "task_running")]
    Running,
    /// It has ended.
    #[strum(serialize = "task_ended")]
    Ended,
}

impl Refusal {
    /// Its code in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Effect {
    /// The table: what `lever` does to a task in `state`.
    ///
    /// # Errors
    /// Why it does nothing.
    pub const fn of(lever: Lever, state: State) -> Result<Self, Refusal> {
        use State as S;
        match (lever, state) {
            (Lever::Rerun, _) => Ok(Self::NewTask),

            (Lever::Retry | Lever::RunNow, S::Retrying) | (Lever::RunNow, S::Scheduled) => {
                Ok(Self::DueNow)
            }
            (Lever::RunNow, S::Ready | S::Queued) => Ok(Self::Nothing),
            (Lever::Retry, S::Scheduled | S::Ready | S::Queued) => Err(Refusal::Waiting),

            (Lever::MarkSucceeded, S::Scheduled | S::Ready | S::Queued | S::Retrying) => {
                Ok(Self::Succeeds)
            }
            (Lever::MarkSucceeded, S::Succeeded) => Ok(Self::Nothing),

            (Lever::Change, S::Scheduled | S::Ready | S::Queued | S::Retrying) => Ok(Self::Changes),

            (
                Lever::Retry | Lever::RunNow | Lever::MarkSucceeded | Lever::Change,
                S::Running | S::Cancelling,
            ) => Err(Refusal::Running),

            (
                Lever::Retry,
                S::Succeeded
                | S::Failed
                | S::Aborted
                | S::Killed
                | S::Cancelled
                | S::Expired
                | S::Skipped,
            ) => Ok(Self::NewTask),
            (
                Lever::RunNow | Lever::MarkSucceeded | Lever::Change,
                S::Succeeded
                | S::Failed
                | S::Aborted
                | S::Killed
                | S::Cancelled
                | S::Expired
                | S::Skipped,
            ) => Err(Refusal::Ended),
        }
    }

    /// What it does, in the words of the docs.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::DueNow => "due now",
            Self::Succeeds => "succeeds",
            Self::Changes => "changes",
            Self::NewTask => "new task",
            Self::Nothing => "no effect",
        }
    }
}

/// A new due time, as it compares with the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NewTime {
    /// It has come.
    Now,
    /// It lies ahead.
    Later,
}

/// The event that a change raises in `state`, with a new time if there is one; `None`: the state stays.
///
/// A queued task always leaves the broker: whoever holds its hint may have read it as it was.
#[must_use]
pub const fn event_of_change(state: State, time: Option<NewTime>) -> Option<Event> {
    match (state, time) {
        (State::Scheduled | State::Retrying, Some(NewTime::Now)) => Some(Event::RunNow),
        (State::Ready | State::Queued, Some(NewTime::Later)) => Some(Event::Postponed),
        (State::Queued, _) => Some(Event::Recalled),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::next;

    /// The event that an effect raises.
    fn raised(effect: Effect) -> Option<Event> {
        match effect {
            Effect::DueNow => Some(Event::RunNow),
            Effect::Succeeds => Some(Event::MarkedSucceeded),
            Effect::Changes | Effect::NewTask | Effect::Nothing => None,
        }
    }

    #[test]
    fn what_a_lever_raises_is_a_legal_move() {
        for &lever in Lever::ALL {
            for &state in State::ALL {
                if let Some(event) = Effect::of(lever, state).ok().and_then(raised) {
                    assert!(next(state, event).is_some(), "{lever:?} in {state}");
                }
            }
        }
    }

    #[test]
    fn a_lever_is_refused_for_what_the_state_is() {
        for &lever in Lever::ALL {
            for &state in State::ALL {
                let Err(refusal) = Effect::of(lever, state) else { continue };
                let why = match refusal {
                    Refusal::Ended => state.is_terminal(),
                    Refusal::Running => state.is_leased(),
                    Refusal::Waiting => !state.is_terminal() && !state.is_leased(),
                };
                assert!(why, "{lever:?} in {state}: {refusal:?}");
            }
        }
    }

    #[test]
    fn nothing_but_a_new_task_comes_of_what_has_ended_or_runs() {
        for &lever in Lever::ALL {
            for &state in State::ALL.iter().filter(|s| s.is_terminal() || s.is_leased()) {
                let effect = Effect::of(lever, state);
                let changes =
                    matches!(effect, Ok(Effect::DueNow | Effect::Succeeds | Effect::Changes));
                assert!(!changes, "{lever:?} in {state}: {effect:?}");
            }
        }
    }

    #[test]
    fn a_lever_pulled_twice_does_once() {
        for lever in [Lever::RunNow, Lever::MarkSucceeded] {
            for &state in State::ALL {
                let raised = Effect::of(lever, state).ok().and_then(raised);
                let Some(after) = raised.and_then(|event| next(state, event)) else { continue };
                assert_eq!(Effect::of(lever, after), Ok(Effect::Nothing), "{lever:?} in {state}");
            }
        }
    }

    #[test]
    fn a_change_moves_only_what_may_change_and_only_legally() {
        for &state in State::ALL {
            let may = Effect::of(Lever::Change, state) == Ok(Effect::Changes);
            for time in [None, Some(NewTime::Now), Some(NewTime::Later)] {
                let event = event_of_change(state, time);
                assert!(event.is_none() || may, "{state} {time:?}");
                let after = event.map_or(Some(state), |event| next(state, event));
                let wanted = match (state, time) {
                    _ if !may => Some(state),
                    (State::Retrying, Some(NewTime::Later)) => Some(State::Retrying),
                    (_, Some(NewTime::Later)) => Some(State::Scheduled),
                    (_, Some(NewTime::Now)) | (State::Queued, None) => Some(State::Ready),
                    (_, None) => Some(state),
                };
                assert_eq!(after, wanted, "{state} {time:?}");
            }
        }
    }

    #[test]
    fn levers_have_the_names_of_their_commands() {
        let names: Vec<_> = Lever::ALL.iter().map(|lever| lever.as_str()).collect();
        assert_eq!(names, ["retry", "rerun", "run-now", "mark-succeeded", "change"]);
        assert_eq!(Refusal::Waiting.as_str(), "task_waiting");
    }
}
