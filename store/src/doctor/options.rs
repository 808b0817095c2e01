//! Options of the checks.

use runtime::config::LimitsConfig;
use std::time::Duration;

/// Thresholds of the checks, and the time that they may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoctorOptions {
    /// How far past its time something may be before it is overdue.
    pub overdue: Duration,
    /// Time limit of one statement.
    pub statement: Duration,
    /// After this time no further group of checks starts.
    pub whole: Duration,
    /// Approximate number of rows to sample of each history table.
    pub sample: u32,
    /// Longest age of an open transaction.
    pub transaction: Duration,
    /// Longest time that a transaction may be idle.
    pub idle: Duration,
    /// Dead rows that a table may have, beyond its live rows, when it was not vacuumed for `unvacuumed`.
    pub dead_rows: i64,
    /// See `dead_rows`.
    pub unvacuumed: Duration,
    /// Largest offset between clocks.
    pub clocks: Duration,
    /// Days ahead for which partitions must exist.
    pub days_ahead: u16,
}

impl DoctorOptions {
    /// For `berth doctor`: takes up to 30 s.
    #[must_use]
    pub fn interactive(limits: &LimitsConfig) -> Self {
        Self {
            overdue: Duration::from_secs(60),
            statement: Duration::from_secs(10),
            whole: Duration::from_secs(20),
            sample: 50_000,
            transaction: Duration::from_secs(300),
            idle: Duration::from_secs(60),
            dead_rows: 200_000,
            unvacuumed: Duration::from_secs(600),
            clocks: Duration::from_secs(2),
            // The last day is made in the minute after midnight.
            days_ahead: u16::try_from(limits.partitions_ahead_days)
                .unwrap_or(u16::MAX)
                .saturating_sub(1),
        }
    }

    /// For the scheduler's run once a minute: takes a few seconds at most.
    #[must_use]
    pub fn background(limits: &LimitsConfig) -> Self {
        Self {
            statement: Duration::from_secs(2),
            whole: Duration::from_secs(6),
            // A larger sample delays the tasks that run beside it.
            sample: 500,
            ..Self::interactive(limits)
        }
    }
}
