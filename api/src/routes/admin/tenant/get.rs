//! `GET /v1/admin/tenants/{id}`: one customer.

use super::view::{answer, id_of};
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a tenant",
    answers: &[AnswerDoc { status: 200, text: "The tenant", content: Content::Json("Tenant") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    answer(&call, StatusCode::OK, id_of(&call)?).await
}
