//! A definition as it is stored.

use crate::StoreError;
use domain::time::Timestamp;
use domain::workflow::Plan;
use serde_json::{Value, json};

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRecord {
    /// Its name.
    pub name: String,
    /// Counts its changes, from 1.
    pub version: i64,
    /// As it was sent, JSON.
    pub definition: String,
    /// What runs are made of, JSON.
    pub plan: String,
    /// Its nodes.
    pub nodes: i64,
    /// When it was stored first.
    pub created_at: Timestamp,
    /// When it was stored in this version.
    pub updated_at: Timestamp,
    /// The key or the sign-in that did.
    pub updated_by: String,
}

impl WorkflowRecord {
    /// What runs are made of.
    ///
    /// # Errors
    /// `Malformed` where another release wrote it.
    pub fn plan(&self) -> Result<Plan, StoreError> {
        read_plan(&self.name, &self.plan)
    }

    /// As the audit shows it.
    pub(super) fn audit_value(&self) -> Value {
        json!({"version": self.version, "nodes": self.nodes})
    }
}

/// Reads a plan, of the definition or the run `row`.
pub(crate) fn read_plan(row: &str, text: &str) -> Result<Plan, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Malformed {
        what: "plan",
        row: row.to_owned(),
        value: text.chars().take(64).collect(),
    })
}
