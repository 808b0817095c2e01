//! `GET /v1/admin/operator`: whose key this is.

use crate::answer::json;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the operator of the key",
    answers: &[AnswerDoc { status: 200, text: "The key", content: Content::Json("Operator") }],
    ..Doc::EMPTY
};

/// The operator of the key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Operator)]
pub struct OperatorView<'a> {
    /// The public part of the key.
    id: String,
    /// Name of the key.
    name: &'a str,
    /// `read` and `admin`; neither includes the other.
    scopes: Vec<&'static str>,
    /// Expiry; null: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// Answers.
///
/// # Errors
/// `invalid_parameter` for a query.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let operator = &call.operator;
    let view = OperatorView {
        id: operator.key().to_string(),
        name: operator.name(),
        scopes: operator.scopes().iter().map(|scope| scope.as_str()).collect(),
        expires_at: operator.expires_at(),
    };
    json(StatusCode::OK, &view)
}
