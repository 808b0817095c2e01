//! `DELETE /v1/keys/{id}`: end an API key at once.
//!
//! Each process forgets the key within `api.key_cache_ttl`, whether Redis is there or not.

use super::view::{api_key, id_in_path, no_such_key};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::ApiKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Revoke an API key",
    description: "Every process refuses the key within 2 s. A key may revoke itself. Cannot be undone.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The revoked object",
        content: Content::Json("ApiKey"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, for one that was revoked before, too; what the database said.
pub async fn handle(call: Call) -> Result<Answer<ApiKey>, Problem> {
    let id = id_in_path(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    let user = call.caller.keys_of()?;
    let revoked = store::key::revoke(&call.state.api, &call.scope(), user, id).await?;
    Ok(Answer::ok(api_key(revoked.ok_or_else(no_such_key)?)))
}
