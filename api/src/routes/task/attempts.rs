//! `GET /v1/tasks/{id}/attempts`: a task's tries, in order, the running one last.

use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use api_types::{Attempt, AttemptState, Page};
use store::attempt::AttemptRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the attempts of a task",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Attempt") }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<Attempt>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `not_found`, `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<Attempt>, Problem> {
    let task = call.task_id()?;
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::Attempts, [task.to_string().as_str()]);
    let after = match page.position(sealer, tenant, context)? {
        None => 0,
        Some(position) => u32::from_be_bytes(position.try_into().map_err(|_| outdated_cursor())?),
    };
    let db = &call.state.api;
    let mut rows = store::attempt::list(db, &call.scope(), task, after, page.limit + 1).await?;
    if rows.is_empty() && store::task::get(db, &call.scope(), task).await?.is_none() {
        return Err(Problem::not_found());
    }
    let more = page.cut(&mut rows);
    let seal = |number: u32| sealer.seal(tenant, context, &number.to_be_bytes());
    pagination::page(rows, more, |row| Ok(attempt(row)), |row| row.attempt, seal)
}

fn attempt(row: AttemptRecord) -> Attempt {
    Attempt {
        attempt: row.attempt,
        state: AttemptState::from(row.outcome).into(),
        charged: row.charged,
        executor: row.executor,
        placed_at: row.placed_at,
        ended_at: row.ended_at,
        usage_ms: row.usage_ms,
        exit_code: row.exit_code,
        signal: row.signal,
        reason: row.reason,
        stdout_bytes: row.stdout_bytes,
        stderr_bytes: row.stderr_bytes,
        output_over_quota: row.output_over_quota,
    }
}
