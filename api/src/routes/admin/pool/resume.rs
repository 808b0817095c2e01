//! `POST /v1/admin/pools/{name}/resume`: a pool is dispatched again.

use super::super::named::name_of;
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use actix_web::http::StatusCode;
use api_types::Pool;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Resume a paused pool",
    description: "Waiting tasks continue in order. Can be repeated.",
    answers: &[AnswerDoc { status: 200, text: "The pool", content: Content::Json("Pool") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Pool>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    let resumed = store::pool::resume(&call.state.admin, &name_of(&call)?, call.by()).await?;
    Ok(shown(StatusCode::OK, resumed.ok_or_else(|| Problem::no_such("pool"))?))
}
