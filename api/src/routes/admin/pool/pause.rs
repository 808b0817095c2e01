//! `POST /v1/admin/pools/{name}/pause`: nothing of a pool is dispatched until it is resumed.

use super::super::named::name_of;
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, short_text};
use actix_web::http::StatusCode;
use api_types::Pool;
use api_types::request::PoolPause;

/// Longest reason.
const MAX_REASON: usize = 500;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Pause a pool",
    description: "Dispatch stops within a second; running tasks continue, and tasks are accepted. Can be repeated, with another reason.",
    request: Some("PoolPause"),
    answers: &[AnswerDoc { status: 200, text: "The paused pool", content: Content::Json("Pool") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Pool>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let PoolPause { reason } = json::parse(&call.body)?;
    let mut findings = Findings::default();
    short_text(&mut findings, "/reason", &reason, MAX_REASON);
    findings.into_result()?;
    let paused = store::pool::pause(&call.state.admin, &name, &reason, call.by()).await?;
    Ok(shown(StatusCode::OK, paused.ok_or_else(|| Problem::no_such("pool"))?))
}
