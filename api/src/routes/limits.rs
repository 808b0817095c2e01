//! `GET /v1/limits`: what the plan allows, and what is used of it.

use crate::answer::json;
use crate::call::Call;
use crate::limit::RateUse;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::plan::Quota;
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use store::event::Warning;
use utoipa::ToSchema;

/// Warnings shown.
const WARNINGS: u32 = 20;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the plan's limits and their use",
    description: "Rates are up to a second or a percent old. Quotas are counted on request; if that takes longer than 5 s, the last \
                  count is returned.",
    answers: &[AnswerDoc { status: 200, text: "The limits", content: Content::Json("Limits") }],
    ..Doc::EMPTY
};

/// Limits of the plan and their use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Limits)]
pub struct LimitsView {
    /// The plan.
    plan: Option<String>,
    /// State of the account: `active` or `suspended`.
    state: &'static str,
    /// Tasks submitted per second, refilled continuously.
    submits_per_second: u32,
    /// Burst of submitted tasks.
    submit_burst: u32,
    /// Tasks submitted per hour; 0: no limit.
    submits_per_hour: u32,
    /// Largest body of one task, bytes.
    payload_bytes: usize,
    /// Source of this limit: `plan` (`payload_bytes`) or `installation` (`api.max_task_bytes`), whichever is smaller.
    payload_bytes_of: &'static str,
    /// Days for which finished tasks are shown.
    retention_days: u32,
    /// Scheduling weight.
    weight: f64,
    /// Whether tasks are flexible by default.
    flexible: bool,
    /// Rates of submits.
    rates: Vec<RateView>,
    /// Quotas.
    quotas: Vec<QuotaView>,
    /// The latest warnings, newest first.
    warnings: Vec<WarningView>,
}

/// One rate.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RateUse)]
pub struct RateView {
    /// Its name.
    name: &'static str,
    /// The limit: the burst of `submits_per_second`, or tasks in the clock hour of `submits_per_hour`.
    limit: u64,
    /// Tasks used.
    used: u64,
    /// Tasks that may be submitted now.
    left: u64,
    /// When the limit is full again without further submits.
    #[schema(value_type = String, format = DateTime)]
    whole_at: Timestamp,
}

/// One quota.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = QuotaUse)]
pub struct QuotaView {
    /// Its name.
    name: &'static str,
    /// What the plan allows.
    limit: u64,
    /// What is used.
    used: u64,
}

/// A warning.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LimitWarning)]
pub struct WarningView {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// What: `quota_nearly_used`, when 80 % are; `fire_missed`, when a due time of a schedule has no outcome;
    /// `schedule_paused`, when a schedule was paused because its tasks failed.
    kind: String,
    /// Its particulars.
    #[schema(value_type = Object)]
    detail: Box<RawValue>,
}

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let (caller, state) = (&call.caller, &call.state);
    let (limits, scope) = (caller.limits(), call.scope());
    let size = state.task_limit(Some(limits));
    let holding = state.backlog.holding(caller).await?;
    let kept = store::output::kept(&state.api, &scope).await?;
    // One more than the plan allows says as well as all that it is over.
    let most = limits.schedules.saturating_add(1);
    let schedules = store::schedule::held(&state.api, &scope, most).await?;
    let used = |quota| match quota {
        Quota::Backlog => Some(holding.backlog),
        Quota::RunningTasks => Some(holding.running_tasks),
        Quota::Schedules => Some(schedules),
        Quota::StoredOutputBytes => Some(kept),
        // No amount that is held.
        Quota::PayloadBytes => None,
    };
    let quota = |quota: Quota| {
        used(quota).map(|used| QuotaView { name: quota.as_str(), limit: limits.of(quota), used })
    };
    let now = runtime::clock::wall();
    let rate = |rate: RateUse| RateView {
        name: rate.limit.as_str(),
        limit: rate.most,
        used: rate.used,
        left: rate.left,
        whole_at: now + rate.whole_in,
    };
    let (burst, hour) = state.limiter.rate_uses(&call.bucket).await;
    let warnings = store::event::warnings(&state.api, &scope, WARNINGS).await?;
    let view = LimitsView {
        plan: store::tenant::plan_name(&state.api, &scope).await?,
        state: caller.tenant_state().as_str(),
        submits_per_second: limits.submits_per_second,
        submit_burst: limits.submit_burst,
        submits_per_hour: limits.submits_per_hour,
        payload_bytes: size.bytes,
        payload_bytes_of: if size.is_plans { "plan" } else { "installation" },
        retention_days: u32::from(limits.retention_days).min(state.limits.history_retention_days),
        weight: limits.weight,
        flexible: limits.flexible,
        rates: [Some(burst), hour].into_iter().flatten().map(rate).collect(),
        quotas: Quota::ALL.into_iter().filter_map(quota).collect(),
        warnings: warnings.into_iter().filter_map(view).collect(),
    };
    json(StatusCode::OK, &view)
}

/// The database holds only JSON there.
fn view(warning: Warning) -> Option<WarningView> {
    let detail = RawValue::from_string(warning.detail_json).ok()?;
    Some(WarningView { at: warning.at, kind: warning.kind, detail })
}
