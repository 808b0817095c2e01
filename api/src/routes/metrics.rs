//! `GET /metrics`: this process's figures, in the text form of Prometheus.
//!
//! They tell of all tenants together, so they are for operators; `api.metrics_listen` shows them without a key.

use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use actix_web::HttpResponse;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Metrics of this process",
    answers: &[AnswerDoc { status: 200, text: "Prometheus text format", content: Content::Text }],
    ..Doc::PROBE
};

/// Answers.
///
/// # Errors
/// Never.
pub async fn handle(_call: OperatorCall) -> Result<HttpResponse, Problem> {
    let text = runtime::metrics::render();
    Ok(HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text))
}
