//! `GET /v1/limits`: limits of the plan and their use.

use crate::{DateTime, Extensible};
use domain::id::PlanName;
use domain::plan::Quota;
use domain::tenant::TenantState;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Limits of the plan and their use.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limits {
    /// The plan.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub plan: Option<PlanName>,
    /// State of the account: `active` or `suspended`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub state: Extensible<TenantState>,
    /// Tasks submitted per second, refilled continuously.
    pub submits_per_second: u32,
    /// Burst of submitted tasks.
    pub submit_burst: u32,
    /// Tasks submitted per hour; 0: no limit.
    pub submits_per_hour: u32,
    /// Largest body of one task, bytes.
    pub payload_bytes: usize,
    /// Source of this limit: `plan` (`payload_bytes`) or `installation` (`api.max_task_bytes`), whichever is smaller.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub payload_bytes_of: Extensible<LimitSource>,
    /// Days for which finished tasks are shown.
    pub retention_days: u32,
    /// Scheduling weight.
    pub weight: f64,
    /// Whether tasks are flexible by default.
    pub flexible: bool,
    /// Rates of submits.
    pub rates: Vec<RateUse>,
    /// Quotas.
    pub quotas: Vec<QuotaUse>,
    /// The latest warnings, newest first.
    pub warnings: Vec<LimitWarning>,
}

/// Who set a limit.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The plan of the tenant.
    Plan,
    /// The settings of the installation.
    Installation,
}

impl LimitSource {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RateUse {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Extensible<RateName>,
    /// The limit: the burst of `submits_per_second`, or tasks in the clock hour of `submits_per_hour`.
    pub limit: u64,
    /// Tasks used.
    pub used: u64,
    /// Tasks that may be submitted now.
    pub left: u64,
    /// When the limit is full again without further submits.
    pub whole_at: DateTime,
}

/// Name of a rate. One of a plan has the name of the plan's limit.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum RateName {
    /// Requests from one address.
    PeerRequestsPerSecond,
    /// Requests from one address to sign in or up, or with an invitation.
    PeerSignInsPerSecond,
    /// Tasks per second.
    SubmitsPerSecond,
    /// Tasks per clock hour.
    SubmitsPerHour,
}

impl RateName {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One quota.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaUse {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: Extensible<Quota>,
    /// What the plan allows.
    pub limit: u64,
    /// What is used.
    pub used: u64,
}

/// A warning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LimitWarning {
    /// When.
    pub at: DateTime,
    /// What: `quota_nearly_used`, when 80 % are; `fire_missed`, when a due time of a schedule has no outcome;
    /// `schedule_paused`, when a schedule was paused because its tasks failed.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub kind: Extensible<LimitWarningKind>,
    /// Its particulars.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub detail: Box<RawValue>,
}

/// What a warning is about.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum LimitWarningKind {
    /// 80 % of a quota are used.
    QuotaNearlyUsed,
    /// A due time of a schedule has no outcome.
    FireMissed,
    /// A schedule was paused because its tasks failed.
    SchedulePaused,
}

impl LimitWarningKind {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
