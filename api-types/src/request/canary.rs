//! What a canary reports.

use crate::DateTime;
use domain::canary::CLASSES;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// All that a start of a canary saw within an hour. A later report of the same hour and start takes the place of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CanaryReport {
    /// Which start of the canary: a UUID of its own choice.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub start: Uuid,
    /// When the hour begins, in UTC.
    pub hour: DateTime,
    /// Submits that were sent.
    pub submits: u32,
    /// Of these, those that were accepted within 10 s.
    pub accepted: u32,
    /// Accepted tasks and fires of a schedule that were due.
    pub due: u32,
    /// Of these, those that succeeded within 60 s in their first attempt.
    pub reached: u32,
    /// Of these, those that started within 10 s of when they were due.
    pub on_time: u32,
    /// How many started within 5, 10, 25, 50, 100, 250 and 500 ms, 1, 2.5, 5, 10, 30, 60 and 300 s of when they were due, and later; each
    /// is counted once.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 15, max_items = 15))]
    pub lateness: [u32; CLASSES],
    /// Since when its rounds have faults; null: the last one had none.
    pub failing_since: Option<DateTime>,
}
