//! How a parent must end.

use crate::task::State;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How a parent must end, so that its edge holds.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// `succeeded`.
    #[default]
    Succeeded,
    /// `failed`, `aborted`, `killed` or `expired`: it did not do what it was asked, and its owner had not cancelled it.
    Failed,
    /// `expired`: its time to start, or to wait, was over.
    Expired,
    /// Any end.
    Finished,
    /// `succeeded` or `skipped`.
    SkippedOk,
}

impl Condition {
    /// Every condition.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Whether an edge with it holds after its parent ended in `end`. A state that is no end holds none.
    #[must_use]
    pub const fn holds(self, end: State) -> bool {
        match self {
            Self::Succeeded => matches!(end, State::Succeeded),
            Self::Failed => {
                matches!(end, State::Failed | State::Aborted | State::Killed | State::Expired)
            }
            Self::Expired => matches!(end, State::Expired),
            Self::Finished => end.is_terminal(),
            Self::SkippedOk => matches!(end, State::Succeeded | State::Skipped),
        }
    }

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a condition; expected succeeded, failed, expired, finished or skipped_ok")]
pub struct ParseConditionError(pub String);

impl FromStr for Condition {
    type Err = ParseConditionError;

    fn from_str(text: &str) -> Result<Self, ParseConditionError> {
        let found = Self::ALL.iter().copied().find(|condition| condition.as_str() == text);
        found.ok_or_else(|| ParseConditionError(text.chars().take(64).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_held_by_the_conditions_that_name_it() {
        let held = |end: State| -> Vec<&str> {
            let all = Condition::ALL.iter().filter(|condition| condition.holds(end));
            all.map(|condition| condition.as_str()).collect()
        };
        assert_eq!(held(State::Succeeded), ["succeeded", "finished", "skipped_ok"]);
        for end in [State::Failed, State::Aborted, State::Killed] {
            assert_eq!(held(end), ["failed", "finished"], "{end}");
        }
        assert_eq!(held(State::Expired), ["failed", "expired", "finished"]);
        assert_eq!(held(State::Cancelled), ["finished"]);
        assert_eq!(held(State::Skipped), ["finished", "skipped_ok"]);
        for live in State::ALL.iter().filter(|state| !state.is_terminal()) {
            assert!(held(*live).is_empty(), "{live}");
        }
    }

    #[test]
    fn names_are_read_again() {
        for condition in Condition::ALL {
            assert_eq!(condition.as_str().parse(), Ok(*condition));
        }
        assert!("done".parse::<Condition>().is_err());
    }
}
