//! What a task runs, how it is retried and how it is labelled: read once, when it is submitted.
//!
//! The API makes a [`TaskSpec`] of what a client sent, the database keeps its parts as JSON, and whoever reads them there
//! gets them typed again. A part that this release cannot read (it was stored by a later one, or spoilt) harms no other
//! task: it is told apart here, and its reader goes on.

use super::retry::RetryPolicy;
use super::run::Run;
use std::collections::BTreeMap;

/// Labels by their key.
pub type Labels = BTreeMap<String, String>;

/// What never changes of a task and has no column of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSpec {
    /// What it runs.
    pub run: Run,
    /// Its retry policy; `None` is the default policy.
    pub retry: Option<RetryPolicy>,
    /// Its labels.
    pub labels: Labels,
}

/// A run as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredRun {
    /// Read.
    Read(Run),
    /// Its text, which this release cannot read: the attempt fails where no executor can. Empty where it is gone.
    Unread(String),
}

impl StoredRun {
    /// Reads `text`.
    #[must_use]
    pub fn read(text: String) -> Self {
        Run::from_json(&text).map_or(Self::Unread(text), Self::Read)
    }

    /// The run, where it could be read.
    #[must_use]
    pub fn known(&self) -> Option<&Run> {
        match self {
            Self::Read(run) => Some(run),
            Self::Unread(_) => None,
        }
    }
}

impl From<Run> for StoredRun {
    fn from(run: Run) -> Self {
        Self::Read(run)
    }
}
