//! Days and ranges in which a schedule is not due.

use crate::time::Timestamp;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// A time in which a schedule is not due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a date such as \"2026-12-24\", or a range {\"from\": …, \"to\": …} of dates or of instants"
)]
pub enum Exclusion {
    /// One day of the schedule's zone: `"2026-12-24"`.
    Day(NaiveDate),
    /// From one bound to another: `{"from": "2026-12-24", "to": "2027-01-01"}`.
    Range(ExclusionRange),
}

/// From one bound to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExclusionRange {
    /// Where it begins; it belongs to the range.
    pub from: Bound,
    /// Where it ends: a day belongs to the range, an instant does not.
    pub to: Bound,
}

/// Where a range begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a date such as \"2026-12-24\" or an instant such as \"2026-12-24T00:00:00Z\""
)]
pub enum Bound {
    /// A day of the schedule's zone.
    Day(NaiveDate),
    /// An instant.
    Instant(Timestamp),
}
