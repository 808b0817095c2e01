//! `PUT /v1/admin/canaries/{name}`: what a canary saw within an hour.

use super::super::named::name_of;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, FieldError, Problem};
use crate::request::json as body;
use api_types::request::CanaryReport;
use chrono::{DurationRound, TimeDelta};
use domain::canary::{Delays, Seen};
use domain::id::CanaryName;
use domain::time::Timestamp;
use runtime::clock::wall;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Report what a canary saw",
    description: "All that this start of the canary saw within the hour, so that a report may be repeated, and come late. It is what \
                  `GET /v1/status` is made of. Hours of the last 90 days; not in the audit.",
    request: Some("CanaryReport"),
    answers: &[AnswerDoc { status: 200, text: "Stored", content: Content::Json("CanaryReport") }],
    ..Doc::EMPTY
};

/// A canary's clock may be ahead by so much.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// Answers.
///
/// # Errors
/// What is wrong with it; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<CanaryReport>, Problem> {
    call.query()?.finish()?;
    let canary = name_of(&call)?;
    let body: CanaryReport = body::parse(&call.body)?;
    let report = checked(canary, &body, wall())?;
    store::canary::report(&call.state.admin, &report).await?;
    Ok(Answer::ok(body))
}

fn checked(
    canary: CanaryName,
    body: &CanaryReport,
    now: Timestamp,
) -> Result<store::canary::Report, Problem> {
    let seen = Seen {
        submits: body.submits,
        accepted: body.accepted,
        due: body.due,
        reached: body.reached,
        on_time: body.on_time,
        lateness: Delays::of(body.lateness),
    };
    let mut wrong: Vec<FieldError> = seen
        .problems()
        .into_iter()
        .map(|(field, detail)| FieldError { pointer: format!("/{field}"), detail })
        .collect();
    let hour = body.hour;
    let oldest = now - TimeDelta::days(i64::from(store::canary::DAYS));
    let is_hour = hour.duration_trunc(TimeDelta::hours(1)).is_ok_and(|trunc| trunc == hour);
    if !is_hour || hour < oldest || hour > now + AHEAD {
        let detail = "expected the beginning of an hour in UTC within the last 90 days".to_owned();
        wrong.push(FieldError { pointer: "/hour".to_owned(), detail });
    }
    if !wrong.is_empty() {
        return Err(Problem::with_errors(Code::ValidationFailed, wrong));
    }
    let (start, failing_since) = (body.start, body.failing_since);
    Ok(store::canary::Report { canary, start, hour, seen, failing_since })
}
