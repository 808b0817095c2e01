//! `GET /v1/concurrency-limits/{key}`: how many tasks of a key run at once, and how many do.

use super::view::{key_in_path, stored, usual};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::ConcurrencyUse;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a key's concurrency limit and its use",
    description: "Also for a key without a stored limit.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The limit",
        content: Content::Json("ConcurrencyUse"),
    }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: Call) -> Result<Answer<ConcurrencyUse>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The limit of a key and its use.
///
/// # Errors
/// `invalid_parameter`; what the database said.
pub async fn read(call: &Call) -> Result<ConcurrencyUse, Problem> {
    call.query()?.finish()?;
    let key = key_in_path(call)?;
    let (db, scope) = (&call.state.api, call.scope());
    let found = store::concurrency::find(db, &scope, &key).await?;
    let held = store::concurrency::held_of(db, &scope, &key).await?;
    let limit = found.as_ref().map_or_else(|| usual(&key), stored);
    Ok(ConcurrencyUse { limit, held })
}
