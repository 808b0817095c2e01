//! `GET /v1/overview`: what a tenant looks at first.

use crate::{DateTime, Extensible, LimitWarning};
use domain::plan::Quota;
use domain::task::State;
use domain::tenant::TenantState;
use serde::{Deserialize, Serialize};

/// Live tasks, how the newest finished ones went, and what needs attention.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Overview {
    /// When the figures were read.
    pub as_of: DateTime,
    /// State of the account: `active` or `suspended`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub state: Extensible<TenantState>,
    /// Tasks that have not ended.
    pub live: OverviewLive,
    /// The newest finished tasks.
    pub recent: OverviewRecent,
    /// Quotas of which 80 % or more were used when they were last counted.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub nearly_used: Vec<Extensible<Quota>>,
    /// The latest warnings, newest first.
    pub warnings: Vec<LimitWarning>,
}

/// Tasks that have not ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewLive {
    /// How many are counted: at most 10 000, the oldest.
    pub tasks: u64,
    /// False: there may be more than are counted.
    pub is_complete: bool,
    /// One row for each state that any has.
    pub states: Vec<OverviewState>,
    /// Those that wait although their start deadline is over.
    pub overdue: u64,
}

/// Tasks in one state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewState {
    /// The state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::State))]
    pub state: Extensible<State>,
    /// How many tasks are in it.
    pub tasks: u64,
}

/// The newest finished tasks: of those created in the last 24 hours, at most 1000.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewRecent {
    /// They were created from then on.
    pub since: DateTime,
    /// How many there are.
    pub tasks: u64,
    /// Those that succeeded.
    pub succeeded: u64,
    /// Those that failed, were aborted, killed, or expired.
    pub failed: u64,
    /// Those with a single attempt; the figures below are of them.
    pub started: u64,
    /// Those that started before their start deadline.
    pub on_time: u64,
    /// Time from when they were due to their start; null: none has started.
    pub wait: Option<OverviewWait>,
}

/// Percentiles of a time in ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewWait {
    /// Half of the tasks waited no longer.
    pub p50_ms: i64,
    /// 95 % of the tasks waited no longer.
    pub p95_ms: i64,
    /// 99 % of the tasks waited no longer.
    pub p99_ms: i64,
}
