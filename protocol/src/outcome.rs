//! Outcomes of attempts, on the stream and in `domain`.
//!
//! One to one, except for a name, `FENCED` of an executor is `lost` elsewhere, and for `CALLED`: that is no end of an attempt, only of
//! its executor's part, which succeeded.

use crate::result::Outcome;
use domain::task::AttemptOutcome;

/// A result without an outcome: a defect of the sender, never settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnspecifiedOutcome;

impl std::error::Error for UnspecifiedOutcome {}

impl std::fmt::Display for UnspecifiedOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the result names no outcome")
    }
}

impl From<AttemptOutcome> for Outcome {
    fn from(outcome: AttemptOutcome) -> Self {
        match outcome {
            AttemptOutcome::Succeeded => Self::Succeeded,
            AttemptOutcome::Failed => Self::Failed,
            AttemptOutcome::KilledCap => Self::KilledCap,
            AttemptOutcome::KilledResources => Self::KilledResources,
            AttemptOutcome::Stopped => Self::Stopped,
            AttemptOutcome::Lost => Self::Fenced,
            AttemptOutcome::HandedBack => Self::HandedBack,
            AttemptOutcome::NotStarted => Self::NotStarted,
        }
    }
}

impl TryFrom<Outcome> for AttemptOutcome {
    type Error = UnspecifiedOutcome;

    fn try_from(outcome: Outcome) -> Result<Self, UnspecifiedOutcome> {
        match outcome {
            Outcome::Unspecified => Err(UnspecifiedOutcome),
            Outcome::Succeeded | Outcome::Called => Ok(Self::Succeeded),
            Outcome::Failed => Ok(Self::Failed),
            Outcome::KilledCap => Ok(Self::KilledCap),
            Outcome::KilledResources => Ok(Self::KilledResources),
            Outcome::Stopped => Ok(Self::Stopped),
            Outcome::HandedBack => Ok(Self::HandedBack),
            Outcome::NotStarted => Ok(Self::NotStarted),
            Outcome::Fenced => Ok(Self::Lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_travels_and_comes_back() {
        for &outcome in AttemptOutcome::ALL {
            assert_eq!(AttemptOutcome::try_from(Outcome::from(outcome)), Ok(outcome));
        }
        assert_eq!(AttemptOutcome::try_from(Outcome::Unspecified), Err(UnspecifiedOutcome));
    }
}
