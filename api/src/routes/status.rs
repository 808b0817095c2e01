//! `GET /v1/status`: how the service does, as its canaries see it.

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::Status;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read how the service does",
    description: "What the platform's canaries see from outside: whether submits are accepted, whether tasks and fires start in time and \
                  end once. Needs no key; 404 unless `api.public_status` is set.",
    answers: &[AnswerDoc { status: 200, text: "The status", content: Content::Json("Status") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found` where it is not public; what the database said.
pub async fn handle(call: OpenCall) -> Result<Answer<Status>, Problem> {
    Ok(Answer::ok(call.state.status.read().await?))
}
