//! `GET /v1/admin/tenants/{id}`: one customer, by id or name.

use super::view::{id_of, shown, unknown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::Tenant;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a tenant",
    description: "By id or name.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The tenant, with its version as `ETag`",
        content: Content::Json("Tenant"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    call.query()?.finish()?;
    let found = store::tenant::get(&call.state.admin, id_of(&call).await?).await?;
    Ok(shown(StatusCode::OK, found.ok_or_else(unknown)?))
}
