//! `GET /v1/users/{id}`: a user, by id or e-mail address.

use super::view::{find, named_in_path, user};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::User;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a user",
    description: "By id or e-mail address.",
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
pub async fn handle(call: Call) -> Result<Answer<User>, Problem> {
    call.query()?.finish()?;
    let named = named_in_path(&call.request, "id")?;
    let found = find(&call.state.api, &call.scope(), named).await?;
    Ok(Answer::versioned(StatusCode::OK, found.version, user(found)))
}
