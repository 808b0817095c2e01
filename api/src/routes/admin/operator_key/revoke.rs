//! `DELETE /v1/admin/operator-keys/{id}`: end an operator's key at once.

use super::view::{id_in_path, no_such_key, operator_key};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::OperatorKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Revoke an operator key",
    description: "Every process refuses the key within 2 s. A key may revoke itself. Cannot be undone.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The revoked key",
        content: Content::Json("OperatorKey"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, for one that was revoked before, too; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<OperatorKey>, Problem> {
    let id = id_in_path(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    let revoked = store::operator_key::revoke(&call.state.admin, id, call.by()).await?;
    let key = revoked.ok_or_else(no_such_key)?;
    Ok(Answer::ok(operator_key(key)?))
}
