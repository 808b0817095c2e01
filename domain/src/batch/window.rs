//! The first tasks of a strand, which are all that is read of it.
//!
//! Millions may wait, and only as many are read as may be dispatched. So the order must know the limits of its input:
//! it picks no task that an unread one might precede.

use super::{Candidate, ConcurrencyKey};

/// The first tasks of one strand: the earliest deadlines of late tasks and of on-time tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// The key of all its tasks.
    pub key: Option<ConcurrencyKey>,
    /// Late tasks, then on-time tasks, each by deadline.
    pub tasks: Vec<Candidate>,
    /// Whether there are more late tasks.
    pub more_late: bool,
    /// Whether there are more on-time tasks.
    pub more_on_time: bool,
}
