//! `[limits]`: what a task may ask for, what it gets when it asks for nothing, what is kept.
//!
//! Read by `api` when it validates and by `scheduler` when it keeps partitions.

use super::checks::{Checks, hours, secs};
use super::values::duration;
use serde::Deserialize;
use std::time::Duration;

/// Settings of `[limits]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Longest execution cap.
    #[serde(deserialize_with = "duration")]
    pub max_execution_cap: Duration,
    /// Execution cap when none is named.
    #[serde(deserialize_with = "duration")]
    pub default_execution_cap: Duration,
    /// Largest delay tolerance.
    #[serde(deserialize_with = "duration")]
    pub max_delay_tolerance: Duration,
    /// Delay tolerance when none is named.
    #[serde(deserialize_with = "duration")]
    pub default_delay_tolerance: Duration,
    /// Most charged attempts.
    pub max_attempts: u32,
    /// Attempts when nothing is said.
    pub default_max_attempts: u32,
    /// Environment variables of one command.
    pub max_env_entries: usize,
    /// Arguments of one command.
    pub max_argv: usize,
    /// How long an Idempotency-Key is remembered.
    #[serde(deserialize_with = "duration")]
    pub idempotency_retention: Duration,
    /// Days that history stays.
    pub history_retention_days: u32,
    /// How long a deleted tenant's data stays.
    #[serde(deserialize_with = "duration")]
    pub deleted_tenant_grace: Duration,
    /// Days for which partitions are made in advance.
    pub partitions_ahead_days: u32,
}

impl LimitsConfig {
    pub(super) fn check(&self, checks: &mut Checks) {
        let year = hours(8760);
        let (cap, tolerance) = (self.max_execution_cap, self.max_delay_tolerance);
        checks.duration("limits.max_execution_cap", cap, secs(1)..=year);
        checks.duration("limits.default_execution_cap", self.default_execution_cap, secs(1)..=cap);
        checks.duration("limits.max_delay_tolerance", tolerance, secs(1)..=year);
        let default_tolerance = self.default_delay_tolerance;
        checks.duration("limits.default_delay_tolerance", default_tolerance, secs(0)..=tolerance);
        checks.number("limits.max_attempts", self.max_attempts, 1..=1000);
        let attempts = 1..=self.max_attempts;
        checks.number("limits.default_max_attempts", self.default_max_attempts, attempts);
        checks.number("limits.max_env_entries", self.max_env_entries, 0..=4096);
        checks.number("limits.max_argv", self.max_argv, 1..=65_536);
        let retention = self.idempotency_retention;
        checks.duration("limits.idempotency_retention", retention, hours(24)..=hours(720));
        checks.number("limits.history_retention_days", self.history_retention_days, 1..=3650);
        checks.rule(
            "limits.idempotency_retention",
            retention <= hours(24) * self.history_retention_days,
            "must not outlast `limits.history_retention_days`: a repeated write is answered with its task",
        );
        let grace = self.deleted_tenant_grace;
        checks.duration("limits.deleted_tenant_grace", grace, secs(60)..=year);
        checks.number("limits.partitions_ahead_days", self.partitions_ahead_days, 2..=60);
    }
}
