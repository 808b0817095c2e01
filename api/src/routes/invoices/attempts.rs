//! `GET /v1/invoices/{number}/lines/{line}/attempts`: the attempts that a line is the sum of.

use super::named::name_of;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use api_types::{InvoiceAttempt, Page};
use chrono::{Datelike, NaiveDate};
use domain::invoice::LineKind;
use store::invoice::{AttemptPosition, LineAttempt};
use uuid::Uuid;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the attempts of a line of an invoice",
    description: "Each with its exact cost: they add up to the line. By the day (UTC) on which they ended, and within a day by task. Only \
                  lines of attempts, tasks and fires have any. Attempts are kept for `limits.history_retention_days`.",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("InvoiceAttempt") }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<InvoiceAttempt>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `not_found`, also for a line without attempts; `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<InvoiceAttempt>, Problem> {
    let name = name_of(&call.request)?;
    let place = call.request.part("line").unwrap_or_default();
    let place: u32 = place.parse().map_err(|_| {
        Problem::at(Code::InvalidParameter, "path:line", "must be the number of a line, from 1")
    })?;
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let (number, line) = (name.to_string(), place.to_string());
    let context = Context::new(List::InvoiceAttempts, [number.as_str(), line.as_str()]);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (state, now, scope) = (&call.state, runtime::clock::wall(), call.scope());
    let invoice = store::invoice::find(&state.api, &scope, name, &state.seller, now).await?;
    let invoice = invoice.ok_or_else(Problem::not_found)?;
    let line = invoice.document.lines.iter().find(|line| line.line == place);
    let has_attempts =
        |kind| matches!(kind, LineKind::Attempts | LineKind::Tasks | LineKind::Fires);
    let line = line.filter(|line| has_attempts(line.kind));
    let line = line.ok_or_else(Problem::not_found)?;
    let limit = page.limit as usize;
    let found =
        store::invoice::attempts(&state.api, &scope, (&invoice, line), after, limit).await?;
    let seal = |place: AttemptPosition| sealer.seal(tenant, context, &written(place));
    pagination::page(found.attempts, found.more, |(row, _)| Ok(shown(row)), |(_, at)| *at, seal)
}

fn shown(row: LineAttempt) -> InvoiceAttempt {
    let LineAttempt { task, attempt, placed_at, ended_at, usage_ms, cost } = row;
    InvoiceAttempt { task, attempt, placed_at, ended_at, usage_ms, cost: cost.0 }
}

fn written(place: AttemptPosition) -> Vec<u8> {
    let mut bytes = place.day.num_days_from_ce().to_be_bytes().to_vec();
    bytes.extend_from_slice(place.task.as_bytes());
    bytes.extend_from_slice(&place.attempt.to_be_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Option<AttemptPosition> {
    let (day, rest) = bytes.split_first_chunk::<4>()?;
    let (task, attempt) = rest.split_first_chunk::<16>()?;
    let day = NaiveDate::from_num_days_from_ce_opt(i32::from_be_bytes(*day))?;
    let attempt = i32::from_be_bytes(attempt.try_into().ok()?);
    Some(AttemptPosition { day, task: Uuid::from_bytes(*task), attempt })
}
