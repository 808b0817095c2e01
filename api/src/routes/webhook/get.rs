//! `GET /v1/webhooks/{name}`: a webhook and how it does.

use super::place::{name_of, no_such_webhook};
use super::view::shown;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::Webhook;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a webhook",
    description: "Without its secret.",
    answers: &[AnswerDoc { status: 200, text: "The webhook", content: Content::Json("Webhook") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Webhook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let found = store::webhook::find(&call.state.api, &call.scope(), &name).await?;
    Ok(shown(StatusCode::OK, found.ok_or_else(no_such_webhook)?, None))
}
