//! `DELETE /v1/admin/tenants/{id}/keys/{key_id}`: end a tenant's API key at once.

use super::place::key_in_path;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use crate::routes::admin::tenant::scope_of;
use crate::routes::keys::view::{api_key, no_such_key};
use api_types::ApiKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Revoke an API key of a tenant",
    description: "Every process refuses the key within 2 s. Cannot be undone.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The revoked key",
        content: Content::Json("ApiKey"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, for one that was revoked before, too; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<ApiKey>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    let scope = scope_of(&call).await?;
    let id = key_in_path(&call)?;
    let revoked = store::key::revoke(&call.state.api, &scope, None, id).await?;
    Ok(Answer::ok(api_key(revoked.ok_or_else(no_such_key)?)))
}
