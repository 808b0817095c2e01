//! `GET /v1/admin/tenants/{id}/users/{login}`: a user of a tenant, by e-mail address or id.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::view::{find, named_in_path, user};
use actix_web::http::StatusCode;
use api_types::User;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a user of a tenant",
    description: "By e-mail address or id.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The user, with its version as `ETag`",
        content: Content::Json("User"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<User>, Problem> {
    call.query()?.finish()?;
    let scope = scope_of(&call).await?;
    let found = find(&call.state.api, &scope, named_in_path(&call.request, "login")?).await?;
    Ok(Answer::versioned(StatusCode::OK, found.version, user(found)))
}
