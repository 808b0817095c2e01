//! `GET /openapi.json`: the API's description, built once at start from the table of routes.

use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use actix_web::HttpResponse;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "This document",
    answers: &[AnswerDoc { status: 200, text: "OpenAPI 3.1", content: Content::AnyJson }],
    ..Doc::PROBE
};

/// Answers.
///
/// # Errors
/// Never.
pub async fn handle(call: OpenCall) -> Result<HttpResponse, Problem> {
    Ok(HttpResponse::Ok().content_type("application/json").body(call.state.openapi.clone()))
}
