//! A task that waits for its turn, as the batcher sees it.

use crate::fairness::{Estimates, NameKey};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// A place in the order of one tenant's tasks; less goes first.
pub type Turn = (Timestamp, TaskId);

/// A task that may be dispatched.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Since when it might have started.
    pub due: Timestamp,
    /// Until when it should have started.
    pub start_deadline: Timestamp,
    /// Before or after others of its tenant.
    pub priority: Priority,
    /// Room it takes, in basic tasks (1 upwards).
    pub slots: u32,
    /// Part of the pool that it takes in its dominant dimension, 0 upwards. What a pool is measured by does not matter, as
    /// long as it is the same for all.
    pub share: f64,
    /// What it is called: tasks of a name are expected to take as long as each other.
    pub name: NameKey,
    /// This start was charged before: an earlier dispatch came to nothing.
    pub prepaid: bool,
    /// The longest it may run.
    pub cap: Duration,
    /// What it shares a limit on running tasks with, beside its tenant's.
    pub concurrency_key: Option<ConcurrencyKey>,
    /// It is flexible: until then it runs only where room is spare.
    pub spare_until: Option<Timestamp>,
}

/// Names the tasks of a tenant that share a limit on running ones: 1 to 200 characters without NUL, and not `.` or `..`, because
/// it stands in a path. [`FromStr`] makes one of a stranger's text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConcurrencyKey(pub Arc<str>);

/// A text is no concurrency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseConcurrencyKeyError {
    /// It is empty or too long.
    #[error("must have 1 to 200 characters")]
    Length,
    /// No text in the database may hold this.
    #[error("must not contain a NUL character")]
    Nul,
    /// Such a part of a path is taken away on its way, however it is encoded.
    #[error("must not be `.` or `..`")]
    Dots,
}

impl ConcurrencyKey {
    /// Characters, at most.
    pub const MOST: usize = 200;
    /// Tasks of a key that may run at once where its tenant says nothing else.
    pub const USUAL_LIMIT: u32 = 1;

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConcurrencyKey {
    type Err = ParseConcurrencyKeyError;

    fn from_str(text: &str) -> Result<Self, ParseConcurrencyKeyError> {
        if text.contains('\0') {
            return Err(ParseConcurrencyKeyError::Nul);
        }
        if text.is_empty() || text.chars().nth(Self::MOST).is_some() {
            return Err(ParseConcurrencyKeyError::Length);
        }
        if text == "." || text == ".." {
            return Err(ParseConcurrencyKeyError::Dots);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ConcurrencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a task goes before others of its tenant: each level is worth a minute of start deadline.
///
/// It moves a fixed point in time, so it ages: what comes more than 20 minutes later with the same tolerance goes later,
/// whatever its priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i8", into = "i8")]
pub struct Priority(i8);

/// A number or text is no priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from -10 to 10")]
pub struct ParsePriorityError;

impl Priority {
    /// The highest; the lowest is its negative.
    pub const MOST: i8 = 10;

    /// The priority of `level`, -10 to 10; `None` beyond.
    #[must_use]
    pub const fn new(level: i8) -> Option<Self> {
        if level >= -Self::MOST && level <= Self::MOST { Some(Self(level)) } else { None }
    }

    /// Its level, -10 to 10.
    #[must_use]
    pub const fn level(self) -> i8 {
        self.0
    }
}

impl TryFrom<i8> for Priority {
    type Error = ParsePriorityError;

    fn try_from(level: i8) -> Result<Self, ParsePriorityError> {
        Self::new(level).ok_or(ParsePriorityError)
    }
}

impl From<Priority> for i8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl FromStr for Priority {
    type Err = ParsePriorityError;

    fn from_str(text: &str) -> Result<Self, ParsePriorityError> {
        text.parse().ok().and_then(Self::new).ok_or(ParsePriorityError)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Candidate {
    /// Its place among its tenant's: it never changes.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let ahead = TimeDelta::minutes(i64::from(self.priority.0));
        let at = self.start_deadline.checked_sub_signed(ahead).unwrap_or(self.start_deadline);
        (at, self.task)
    }

    /// Until when a flexible task that is due at `due` runs on spare room only: for nine tenths of its tolerance.
    #[must_use]
    pub fn spare_until(due: Timestamp, start_deadline: Timestamp) -> Timestamp {
        start_deadline - (start_deadline - due) / 10
    }

    /// How long its dispatch is charged for.
    pub(super) fn expected(&self, estimates: &Estimates) -> Duration {
        let known = || estimates.expected(self.tenant, self.name, self.cap);
        if self.prepaid { Duration::ZERO } else { known() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use uuid::Uuid;

    pub(crate) fn at(millis: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::milliseconds(millis)
    }

    pub(crate) fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    /// A task of one slot that takes a second.
    pub(crate) fn task(owner: u128, number: u128, deadline_s: i64) -> Candidate {
        Candidate {
            tenant: tenant(owner),
            task: TaskId(Uuid::from_u128(owner * 1_000_000 + number)),
            due: at(0),
            start_deadline: at(deadline_s * 1000),
            priority: Priority::default(),
            slots: 1,
            share: 1.0,
            name: NameKey::default(),
            prepaid: false,
            cap: Duration::from_secs(1),
            concurrency_key: None,
            spare_until: None,
        }
    }

    #[test]
    fn a_flexible_task_stands_with_all_others_for_the_last_tenth_of_its_tolerance() {
        assert_eq!(Candidate::spare_until(at(10_000), at(20_000)), at(19_000));
        assert_eq!(Candidate::spare_until(at(10_000), at(10_000)), at(10_000));
    }

    #[test]
    fn a_priority_is_worth_minutes_and_no_more() {
        let high = Candidate { priority: Priority::new(10).unwrap(), ..task(1, 1, 1201) };
        assert!(high.turn() > task(1, 2, 600).turn());
        assert!(high.turn() < task(1, 2, 602).turn());
        assert_eq!((Priority::new(11), Priority::new(-11)), (None, None));
    }

    #[test]
    fn only_whole_numbers_within_the_range_are_priorities() {
        for (text, level) in [("-10", -10), ("0", 0), ("+3", 3), ("10", 10)] {
            assert_eq!(text.parse::<Priority>().unwrap().to_string(), level.to_string());
        }
        for text in ["", "11", "-11", "300", "1.5", "high"] {
            assert_eq!(text.parse::<Priority>(), Err(ParsePriorityError), "{text}");
        }
        assert_eq!(ParsePriorityError.to_string(), "must be a whole number from -10 to 10");
    }

    #[test]
    fn a_concurrency_key_fits_the_database_and_a_path() {
        let parsed = |text: &str| text.parse::<ConcurrencyKey>();
        let longest = "ü".repeat(ConcurrencyKey::MOST);
        for text in ["a", " ", "...", "a/b?c#d%2e", "größe", longest.as_str()] {
            assert_eq!(parsed(text).unwrap().as_str(), text);
        }
        let longer = format!("{longest}x");
        for text in ["", longer.as_str()] {
            assert_eq!(parsed(text), Err(ParseConcurrencyKeyError::Length), "{text}");
        }
        assert_eq!(parsed("a\0"), Err(ParseConcurrencyKeyError::Nul));
        for text in [".", ".."] {
            assert_eq!(parsed(text), Err(ParseConcurrencyKeyError::Dots), "{text}");
        }
    }
}
