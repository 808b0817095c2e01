//! A task that waits for dispatch.

use crate::fairness::{Estimates, NameKey};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Position in the order of one tenant's tasks; smaller is first.
pub type Turn = (Timestamp, TaskId);

/// A task that may be dispatched.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Its due time.
    pub due: Timestamp,
    /// Its start deadline.
    pub start_deadline: Timestamp,
    /// Its priority within its tenant.
    pub priority: Priority,
    /// Room it needs, in basic tasks, from 1.
    pub slots: u32,
    /// Dominant share of the pool, from 0. The size of the pool does not matter as long as it is the same for all.
    pub share: f64,
    /// Hash of its name: tasks of one name are expected to take the same time.
    pub name: NameKey,
    /// The start was already charged: an earlier dispatch failed.
    pub prepaid: bool,
    /// Its execution cap.
    pub cap: Duration,
    /// Its concurrency key, if any.
    pub concurrency_key: Option<ConcurrencyKey>,
    /// For a flexible task: until then it runs only in spare room.
    pub spare_until: Option<Timestamp>,
}

/// A key of tasks of a tenant that share a limit of running ones: 1 to 200 characters without NUL, and not `.` or `..`,
/// because it is part of a path. [`FromStr`] parses untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConcurrencyKey(pub Arc<str>);

/// A text is not a concurrency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseConcurrencyKeyError {
    /// It is empty or too long.
    #[error("must have 1 to 200 characters")]
    Length,
    /// It contains NUL, which Postgres refuses.
    #[error("must not contain a NUL character")]
    Nul,
    /// Such a path segment is removed in transit, however it is encoded.
    #[error("must not be `.` or `..`")]
    Dots,
}

impl ConcurrencyKey {
    /// Characters, at most.
    pub const MOST: usize = 200;
    /// Default limit of a key.
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

/// Priority of a task within its tenant: each level shifts the start deadline by a minute.
///
/// It shifts a fixed time, so it ages: a task that is due more than 20 minutes later with the same tolerance is later
/// at any priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i8", into = "i8")]
pub struct Priority(i8);

/// A number or text is not a priority.
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
    /// Its position within its tenant, which never changes.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let ahead = TimeDelta::minutes(i64::from(self.priority.0));
        let at = self.start_deadline.checked_sub_signed(ahead).unwrap_or(self.start_deadline);
        (at, self.task)
    }

    /// Until when a flexible task due at `due` runs only in spare room: for nine tenths of its tolerance.
    #[must_use]
    pub fn spare_until(due: Timestamp, start_deadline: Timestamp) -> Timestamp {
        start_deadline - (start_deadline - due) / 10
    }

    /// Time for which its dispatch is charged.
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
