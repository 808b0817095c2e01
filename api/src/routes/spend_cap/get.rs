//! `GET /v1/spend-caps/{name}`: a cap and how it stands.

use super::view::{name_of, no_such_cap, shown};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::SpendCap;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a spend cap and how much of it is used",
    answers: &[AnswerDoc {
        status: 200,
        text: "The spend cap",
        content: Content::Json("SpendCap"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<SpendCap>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let found = store::spend_cap::find(&call.state.api, &call.scope(), &name).await?;
    Ok(shown(StatusCode::OK, found.ok_or_else(no_such_cap)?))
}
