//! The answer to a probe.
//!
//! Shown as text by the health server and as the api sees fit by the api. Holds no secrets: probes
//! are not authenticated.

use serde::Serialize;
use std::fmt;

/// All checks of one probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// Whether every check is well.
    pub ok: bool,
    /// Each check, in the order of names.
    pub checks: Vec<Check>,
}

/// One named check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// A sentence for a person; empty when there is nothing to say.
    pub detail: String,
}

impl HealthReport {
    pub(super) fn of(checks: Vec<Check>) -> Self {
        Self { ok: checks.iter().all(|check| check.ok), checks }
    }
}

impl fmt::Display for HealthReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", if self.ok { "ok" } else { "not ok" })?;
        for check in &self.checks {
            let word = if check.ok { "ok" } else { "NOT OK" };
            let gap = if check.detail.is_empty() { "" } else { ": " };
            writeln!(f, "{} {word}{gap}{}", check.name, check.detail)?;
        }
        Ok(())
    }
}
