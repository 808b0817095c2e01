//! `GET /v1/tasks/{id}/explain`: why a task is not running, and when it will probably start.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::workflow::progress;
use api_types::Explanation;
use domain::explain::{Eta, Reason};
use domain::id::TaskId;
use domain::time::Timestamp;
use domain::workflow::starts_by;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Explain what a task waits for and its estimated start",
    description: "Works in every state. Reasons are as of `at`; the position in the queue may be one second older. Times are \
                  estimates: `basis` says how they were made, or why there are none.",
    answers: &[AnswerDoc {
        status: 200,
        text: "What it waits for",
        content: Content::Json("Explanation"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`explain`].
pub async fn handle(call: Call) -> Result<Answer<Explanation>, Problem> {
    Ok(Answer::ok(explain(&call).await?))
}

/// What a task waits for.
///
/// # Errors
/// `not_found` for unknown, foreign and malformed ids alike; what the database said.
pub async fn explain(call: &Call) -> Result<Explanation, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    let facts = store::task::explain(&call.state.api, &call.scope(), id).await?;
    let mut facts = facts.ok_or_else(Problem::not_found)?;
    let from = call.ended_from(runtime::clock::wall());
    if from.is_some_and(|from| facts.ended_at().is_some_and(|at| at < from)) {
        return Err(Problem::not_found());
    }
    if facts.is_overdue()
        && let Some(lack) = store::workflow::gate::lack(&call.state.api, &call.scope(), id).await?
    {
        facts.own = Some(Reason::SpendCap(lack));
    }
    let mut explanation = domain::explain::explain(facts);
    if matches!(explanation.reasons.first(), Some(Reason::Parents(_)))
        && let Some(by) = along_path(call, id, explanation.at).await?
    {
        explanation.eta = Eta::along_path(by);
    }
    Ok(Explanation::from(explanation))
}

/// By when a node of a workflow run starts that waits for its parents; `None` for other tasks, and where that is not known.
async fn along_path(call: &Call, id: TaskId, now: Timestamp) -> Result<Option<Timestamp>, Problem> {
    let (db, scope) = (&call.state.api, call.scope());
    let task = store::task::get(db, &scope, id).await?;
    let Some(run) = task.and_then(|task| task.workflow_run) else { return Ok(None) };
    let Some(run) = store::workflow::run::get(db, &scope, run).await? else { return Ok(None) };
    let stands = store::workflow::run::nodes(db, &scope, &run.tasks, run.tasks_since).await?;
    let bytes = run.plan.len();
    let estimate = move || {
        let plan = run.plan()?;
        let all: Vec<_> = stands.iter().map(progress).collect();
        let starts = starts_by(&plan, &all, now);
        let place = run.tasks.iter().position(|task| *task == id);
        Ok(place.and_then(|place| starts.get(place).copied().flatten()))
    };
    call.reading(bytes, estimate).await
}
