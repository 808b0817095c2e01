//! `GET /v1/admin/executors`: the connected executors, by name.

use super::view::executor;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use api_types::{Executor, Page};
use chrono::DateTime;
use domain::id::{PoolName, TenantId};
use store::session::{ConnectedExecutor, ExecutorPosition};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List connected executors",
    description: "By name, each with its capacity and what is left of it.",
    query: &[
        PAGE[0],
        PAGE[1],
        Param { name: "pool", text: "Only executors of this pool", form: Form::Text },
    ],
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Executor") }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Cursors are signed for a tenant; those of operators for none.
const NOBODY: TenantId = TenantId(uuid::Uuid::nil());

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Executor>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// What is wrong with the parameters; what the database said.
pub async fn list(call: &OperatorCall) -> Result<Page<Executor>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    let pool: Option<PoolName> = query.parsed("pool", "the name of a pool")?;
    query.finish()?;
    let sealer = &call.state.sealer;
    let context = Context::new(List::Executors, pool.as_ref().map(PoolName::as_str));
    let after = page.position(sealer, NOBODY, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (db, limit) = (&call.state.admin, page.limit + 1);
    let mut found = store::session::list(db, pool.as_ref(), after.as_ref(), limit).await?;
    let more = page.cut(&mut found);
    let seal = |place: Vec<u8>| sealer.seal(NOBODY, context, &place);
    pagination::page(found, more, |found| Ok(executor(found)), written, seal)
}

fn written(executor: &ConnectedExecutor) -> Vec<u8> {
    let micros = executor.started_at.timestamp_micros().to_be_bytes();
    [&micros[..], executor.executor.as_str().as_bytes()].concat()
}

fn read(bytes: &[u8]) -> Option<ExecutorPosition> {
    let (micros, executor) = bytes.split_first_chunk()?;
    let started_at = DateTime::from_timestamp_micros(i64::from_be_bytes(*micros))?;
    let executor = std::str::from_utf8(executor).ok()?.parse().ok()?;
    Some(ExecutorPosition { executor, started_at })
}
