//! `GET /v1/overview`: live tasks by state, how the newest finished ones went, and what needs attention.

use super::limits::warnings;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Extensible, Overview, OverviewLive, OverviewRecent, OverviewState, OverviewWait};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read what runs, what waits, and how it goes",
    description: "Counts at most 10 000 live and 1000 finished tasks, so that it takes the same few milliseconds whatever waits. Exact \
                  counts of what quotas limit are in `GET /v1/limits`.",
    answers: &[AnswerDoc { status: 200, text: "The overview", content: Content::Json("Overview") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: Call) -> Result<Answer<Overview>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The figures of the tenant.
///
/// # Errors
/// What the database said.
pub async fn read(call: &Call) -> Result<Overview, Problem> {
    call.query()?.finish()?;
    let found = store::overview::overview(&call.state.api, &call.scope()).await?;
    let recent = found.recent;
    let states: Vec<_> = found
        .states
        .into_iter()
        .map(|(state, tasks)| OverviewState { state: state.into(), tasks })
        .collect();
    Ok(Overview {
        as_of: found.now,
        state: call.caller.tenant_state().into(),
        live: OverviewLive {
            tasks: states.iter().map(|one| one.tasks).sum(),
            is_complete: found.is_complete,
            states,
            overdue: found.overdue,
        },
        recent: OverviewRecent {
            since: recent.since,
            tasks: recent.tasks,
            succeeded: recent.succeeded,
            failed: recent.failed,
            started: recent.started,
            on_time: recent.on_time,
            wait: recent.wait_ms.map(|[p50_ms, p95_ms, p99_ms]| OverviewWait {
                p50_ms,
                p95_ms,
                p99_ms,
            }),
        },
        nearly_used: found.nearly_used.into_iter().map(Extensible::Known).collect(),
        warnings: warnings(call).await?,
    })
}
