//! `GET /v1/limits`: what the plan allows, and what is used of it.

use crate::answer::Answer;
use crate::call::Call;
use crate::limit;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{LimitSource, LimitWarning, Limits, QuotaUse, RateUse};
use domain::plan::Quota;
use serde_json::value::RawValue;
use store::event::Warning;

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

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: Call) -> Result<Answer<Limits>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The limits and their use.
///
/// # Errors
/// What the database said.
pub async fn read(call: &Call) -> Result<Limits, Problem> {
    call.query()?.finish()?;
    let (caller, state) = (&call.caller, &call.state);
    let (limits, scope) = (caller.limits(), call.scope());
    let size = state.task_limit(Some(limits));
    let holding = state.backlog.holding(caller).await?;
    let kept = store::output::kept(&state.api, &scope).await?;
    // One more than the plan allows says as well as all that it is over.
    let most = limits.schedules.saturating_add(1);
    let schedules = store::schedule::held(&state.api, &scope, most).await?;
    let most =
        [limits.workflows, limits.workflow_runs, limits.signals].map(|most| most.saturating_add(1));
    let held = store::workflow::held(&state.api, &scope, most).await?;
    let used = |quota| match quota {
        Quota::Backlog => Some(holding.backlog),
        Quota::RunningTasks => Some(holding.running_tasks),
        Quota::Schedules => Some(schedules),
        Quota::StoredOutputBytes => Some(kept),
        Quota::Workflows => Some(held.workflows),
        Quota::WorkflowRuns => Some(held.runs),
        Quota::Signals => Some(held.signals),
        // No amount that is held.
        Quota::PayloadBytes | Quota::WorkflowTasks => None,
    };
    let quota = |quota: Quota| {
        used(quota).map(|used| QuotaUse { name: quota.into(), limit: limits.of(quota), used })
    };
    let now = runtime::clock::wall();
    let rate = |rate: limit::RateUse| {
        let (name, whole_at) = (rate.limit.into(), now + rate.whole_in);
        RateUse { name, limit: rate.most, used: rate.used, left: rate.left, whole_at }
    };
    let (burst, hour) = state.limiter.rate_uses(&call.bucket).await;
    let source = if size.is_plans { LimitSource::Plan } else { LimitSource::Installation };
    let plan = store::tenant::plan_name(&state.api, &scope).await?;
    let limits = Limits {
        plan: plan.and_then(|name| name.parse().ok()),
        state: caller.tenant_state().into(),
        submits_per_second: limits.submits_per_second,
        submit_burst: limits.submit_burst,
        submits_per_hour: limits.submits_per_hour,
        payload_bytes: size.bytes,
        payload_bytes_of: source.into(),
        retention_days: u32::from(limits.retention_days).min(state.limits.history_retention_days),
        weight: limits.weight,
        flexible: limits.flexible,
        rates: [Some(burst), hour].into_iter().flatten().map(rate).collect(),
        quotas: Quota::ALL.into_iter().filter_map(quota).collect(),
        warnings: warnings(call).await?,
    };
    Ok(limits)
}

/// The latest warnings.
pub(super) async fn warnings(call: &Call) -> Result<Vec<LimitWarning>, Problem> {
    let found = store::event::warnings(&call.state.api, &call.scope(), WARNINGS).await?;
    Ok(found.into_iter().filter_map(view).collect())
}

/// The database holds only JSON there.
fn view(warning: Warning) -> Option<LimitWarning> {
    let detail = RawValue::from_string(warning.detail_json).ok()?;
    let kind = serde_json::from_value(warning.kind.into()).ok()?;
    Some(LimitWarning { at: warning.at, kind, detail })
}
