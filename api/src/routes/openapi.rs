//! `GET /openapi.json`: the API's description, from the table of routes.
//!
//! Built at the first request and kept. Building it takes several times the memory of the document, so it is not done at start.

use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
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
/// `internal` if it cannot be written: a bug.
pub async fn handle(call: OpenCall) -> Result<HttpResponse, Problem> {
    let text =
        call.state.openapi.as_ref().map_err(|error| {
            Problem::new(Code::Internal, Code::Internal.advice()).caused_by(error)
        })?;
    Ok(HttpResponse::Ok().content_type("application/json").body(text.clone()))
}
