//! A task that is not submitted yet.

use domain::batch::Priority;
use domain::id::PoolName;
use domain::resources::Resources;
use domain::time::Timestamp;
use std::time::Duration;

/// A task that is not submitted, as far as it decides when it would start.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsentTask {
    /// Its pool.
    pub pool: PoolName,
    /// What it needs.
    pub resources: Resources,
    /// Its driver.
    pub driver: &'static str,
    /// Its priority.
    pub priority: Priority,
    /// Only on spare room, until it is nearly late.
    pub flexible: bool,
    /// Its concurrency key.
    pub concurrency_key: Option<String>,
    /// When it is due.
    pub due: UnsentDue,
    /// How long after that it may start.
    pub delay_tolerance: Duration,
}

/// When a task is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsentDue {
    /// After so long.
    In(Duration),
    /// At a time.
    At(Timestamp),
}
