//! `GET /healthz` and `GET /readyz`: whether to restart this process, and whether to send it requests.

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use actix_web::http::StatusCode;
use runtime::health::HealthReport;

/// The document's words on `/healthz`.
pub const LIVE: Doc = Doc {
    summary: "Liveness of this process",
    answers: &[
        AnswerDoc { status: 200, text: "Live", content: Content::Json("Health") },
        AnswerDoc {
            status: 503,
            text: "A loop hangs: restart the process",
            content: Content::Json("Health"),
        },
    ],
    ..Doc::PROBE
};

/// The document's words on `/readyz`.
pub const READY: Doc = Doc {
    summary: "Readiness of this process",
    answers: &[
        AnswerDoc { status: 200, text: "Ready", content: Content::Json("Health") },
        AnswerDoc {
            status: 503,
            text: "Not ready: starting, stopping, or without its database",
            content: Content::Json("Health"),
        },
    ],
    ..Doc::PROBE
};

/// Answers `/healthz`.
///
/// # Errors
/// Only where the answer cannot be written.
pub async fn live(call: OpenCall) -> Result<Answer<HealthReport>, Problem> {
    Ok(answer(call.state.health.live()))
}

/// Answers `/readyz`.
///
/// # Errors
/// Only where the answer cannot be written.
pub async fn ready(call: OpenCall) -> Result<Answer<HealthReport>, Problem> {
    Ok(answer(call.state.health.ready()))
}

fn answer(report: HealthReport) -> Answer<HealthReport> {
    let status = if report.ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Answer::new(status, report)
}
