//! What one task waits for.

use super::Condition;
use crate::id::TaskId;
use serde::{Deserialize, Serialize};

/// Parents that one task may name.
pub const MAX_PARENTS: usize = 1000;

/// One parent, and how it must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The parent.
    #[serde(rename = "task")]
    pub parent: TaskId,
    /// How it must end.
    pub on: Condition,
}

/// How many of a task's edges must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// Each.
    #[default]
    All,
    /// One.
    Any,
    /// So many, from 1 to the number of edges.
    AtLeast(u32),
}

/// The parents of a task: one or more, each once, and how many of their edges must hold. Stored as JSON with the task's spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// One edge for each parent.
    pub edges: Vec<Edge>,
    /// How many must hold.
    #[serde(default)]
    pub join: Join,
}

impl Dependencies {
    /// How many edges must hold.
    #[must_use]
    pub fn needs(&self) -> u32 {
        match self.join {
            Join::All => u32::try_from(self.edges.len()).unwrap_or(u32::MAX),
            Join::Any => 1,
            Join::AtLeast(wanted) => wanted,
        }
    }
}
