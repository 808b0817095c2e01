//! What a test asks of a point, as text: `error`, `kill`, `delay:250ms`, with `@3` for the third hit only or
//! `*2` for the first two.
//!
//! Read from `BERTH_FAULTS` and from the file named by `BERTH_FAULTS_FILE`, entries separated by `;` or new lines:
//! `executor.spooled=kill@2; api.submit.after_commit=delay:1s`.

use domain::time::parse_duration;
use std::str::FromStr;
use std::time::Duration;

/// What happens at the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The hit fails.
    Error,
    /// The process aborts at once, as with kill -9: nothing is flushed, nothing is closed.
    Kill,
    /// The hit waits.
    Delay(Duration),
}

/// An action and the hits it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// What happens.
    pub action: Action,
    /// First hit it applies to, from 1.
    pub first: u64,
    /// Last hit it applies to.
    pub last: u64,
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fault; use error, kill or delay:250ms, with @N or *N")]
pub struct ParsePlanError(String);

impl Plan {
    /// The action at every hit.
    #[must_use]
    pub fn always(action: Action) -> Self {
        Self { action, first: 1, last: u64::MAX }
    }
}

impl FromStr for Plan {
    type Err = ParsePlanError;

    fn from_str(text: &str) -> Result<Self, ParsePlanError> {
        let wrong = || ParsePlanError(text.to_owned());
        let number = |n: &str| n.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(wrong);
        let (action, first, last) = if let Some((action, n)) = text.split_once('@') {
            (action, number(n)?, number(n)?)
        } else if let Some((action, n)) = text.split_once('*') {
            (action, 1, number(n)?)
        } else {
            (text, 1, u64::MAX)
        };
        let action = match action.split_once(':') {
            None if action == "error" => Action::Error,
            None if action == "kill" => Action::Kill,
            Some(("delay", time)) => Action::Delay(parse_duration(time).map_err(|_| wrong())?),
            _ => return Err(wrong()),
        };
        Ok(Self { action, first, last })
    }
}

/// Reads `point=plan` entries separated by `;` or new lines.
pub(super) fn entries(text: &str) -> Result<Vec<(String, Plan)>, ParsePlanError> {
    text.split([';', '\n'])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (point, plan) =
                entry.split_once('=').ok_or_else(|| ParsePlanError(entry.to_owned()))?;
            Ok((point.trim().to_owned(), plan.trim().parse()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_and_nonsense_is_refused() {
        let second = Duration::from_secs(1);
        let read = entries("a.b=error; c=kill@2\nd=delay:1s*3;").expect("good entries");
        assert_eq!(
            read,
            [
                ("a.b".to_owned(), Plan::always(Action::Error)),
                ("c".to_owned(), Plan { action: Action::Kill, first: 2, last: 2 }),
                ("d".to_owned(), Plan { action: Action::Delay(second), first: 1, last: 3 }),
            ]
        );
        for bad in ["a", "a=", "a=explode", "a=kill@0", "a=delay", "a=delay:soon", "a=error*x"] {
            assert!(entries(bad).is_err(), "{bad}");
        }
    }
}
