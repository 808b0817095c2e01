//! `GET /v1/status`: how the service does, as its canaries see it.

use crate::{DateTime, Extensible};
use chrono::NaiveDate;
use domain::canary::{Health, Seen};
use serde::{Deserialize, Serialize};

/// How the service does: what its canaries, customers of the platform's own, see of it from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Status {
    /// When it was read; it may be 10 s old.
    pub as_of: DateTime,
    /// How it does now: `operational`, `degraded` (some canaries see faults), `down` (all do) or `unknown` (none has reported in the last
    /// five minutes).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub health: Extensible<Health>,
    /// Since when canaries see faults; null: they see none.
    pub failing_since: Option<DateTime>,
    /// The last 24 hours.
    pub recent: StatusFigures,
    /// The days in UTC of the last 90 in which canaries saw anything, oldest first.
    pub days: Vec<StatusDay>,
}

/// A day in UTC.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusDay {
    /// Which.
    pub day: NaiveDate,
    /// What was seen in it.
    #[serde(flatten)]
    pub figures: StatusFigures,
}

/// What canaries saw in some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusFigures {
    /// Submits that were sent. Availability is the share of them that were accepted.
    pub submits: u32,
    /// Submits that were accepted within 10 s.
    pub accepted: u32,
    /// Accepted tasks and fires of schedules that were due. Reach is the share of them that ended as they should.
    pub due: u32,
    /// Those that succeeded within 60 s in their first attempt.
    pub reached: u32,
    /// Those that started within 10 s of when they were due.
    pub on_time: u32,
    /// Half of them started within so many milliseconds of when they were due; null: unknown.
    pub late_p50_ms: Option<u32>,
    /// 99 % of them did.
    pub late_p99_ms: Option<u32>,
}

impl From<&Seen> for StatusFigures {
    fn from(seen: &Seen) -> Self {
        Self {
            submits: seen.submits,
            accepted: seen.accepted,
            due: seen.due,
            reached: seen.reached,
            on_time: seen.on_time,
            late_p50_ms: seen.lateness.within(50),
            late_p99_ms: seen.lateness.within(99),
        }
    }
}
