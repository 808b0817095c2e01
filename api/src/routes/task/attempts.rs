//! `GET /v1/tasks/{id}/attempts`: a task's tries, in order, the running one last.

use crate::answer::append_json;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{Page, answer_page, outdated_cursor};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use domain::time::Timestamp;
use serde::Serialize;
use store::attempt::AttemptRecord;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the attempts of a task",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Attempt") }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// An attempt of a task.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Attempt)]
pub struct AttemptView<'a> {
    /// Number, from 1.
    attempt: u32,
    /// `running`, or how it ended.
    #[schema(value_type = super::super::super::openapi::words::AttemptState)]
    state: &'static str,
    /// False: lost to infrastructure; free, and not counted against `max_attempts`.
    charged: bool,
    executor: Option<&'a str>,
    /// When it was placed on an executor.
    #[schema(value_type = String, format = DateTime)]
    placed_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    /// Billed time in ms.
    usage_ms: i64,
    exit_code: Option<i32>,
    signal: Option<i32>,
    reason: Option<&'a str>,
    /// Bytes written to standard output, stored or not.
    stdout_bytes: i64,
    /// Bytes written to standard error, stored or not.
    stderr_bytes: i64,
    /// Some of its output was not stored: the quota `stored_output_bytes` of your plan was used up.
    output_over_quota: bool,
}

impl<'a> From<&'a AttemptRecord> for AttemptView<'a> {
    fn from(row: &'a AttemptRecord) -> Self {
        Self {
            attempt: row.attempt,
            state: row.outcome.map_or("running", |outcome| outcome.as_str()),
            charged: row.charged,
            executor: row.executor.as_deref(),
            placed_at: row.placed_at,
            ended_at: row.ended_at,
            usage_ms: row.usage_ms,
            exit_code: row.exit_code,
            signal: row.signal,
            reason: row.reason.as_deref(),
            stdout_bytes: row.stdout_bytes,
            stderr_bytes: row.stderr_bytes,
            output_over_quota: row.output_over_quota,
        }
    }
}

/// Answers.
///
/// # Errors
/// `not_found`, `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let task = call.task_id()?;
    let mut query = call.query()?;
    let page = Page::take(&mut query)?;
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
    let view = |row: &AttemptRecord, out: &mut Vec<u8>| append_json(out, &AttemptView::from(row));
    answer_page(&rows, more, view, |row| sealer.seal(tenant, context, &row.attempt.to_be_bytes()))
}
