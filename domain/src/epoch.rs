//! The number under which something is held or was dispatched.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number that rises by one with each new holder (of leadership, a session, a shard) or each dispatch of a task.
/// Whoever acts names the one it knows; under an older one nothing is changed. From 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub i64);

impl From<i32> for Epoch {
    fn from(number: i32) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
