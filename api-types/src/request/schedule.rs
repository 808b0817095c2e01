//! Actions on schedules.

use super::TimeText;
use serde::{Deserialize, Serialize};

/// Why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePause {
    /// Reason, shown with the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 500))]
    pub reason: Option<String>,
}

/// A range to fire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleBackfill {
    /// Start, inclusive (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false, format = DateTime))]
    pub from: Option<TimeText>,
    /// End, exclusive; not in the future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false, format = DateTime))]
    pub to: Option<TimeText>,
    /// Only return the plan. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Tasks created per second, 0.001 to 1000. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.001, maximum = 1000.0))]
    pub per_second: Option<f64>,
}
