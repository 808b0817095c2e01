//! `DELETE /v1/concurrency-limits/{key}`: one task of the key runs at a time again.

use super::view::{key_in_path, usual};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use crate::request::nothing;
use api_types::ConcurrencyLimit;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Reset a key's concurrency limit",
    description: "The limit is then 1.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The limit now",
        content: Content::Json("ConcurrencyLimit"),
    }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<ConcurrencyLimit>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    let key = key_in_path(&call)?;
    store::concurrency::delete(&call.state.api, &call.scope(), &key).await?;
    Ok(Answer::ok(usual(&key)))
}
