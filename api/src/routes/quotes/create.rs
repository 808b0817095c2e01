//! `POST /v1/quotes`: what a task, a batch, a run or a month of a schedule would cost.

use super::caps::caps;
use super::price::{Asked, MOST_LINES, Priced, price};
use super::subject::{Start, Subject};
use super::{schedule, task, workflow};
use crate::answer::{Answer, to_json};
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::web::Bytes;
use api_types::request::QuoteAsk;
use api_types::{Quote, QuoteRejected, QuoteStart};
use domain::explain::{ExpectedStart, expected_start};
use domain::price::Micros;
use serde_json::value::RawValue;
use std::time::Duration;
use store::quote::{Like, QuoteTerms, RECENT};

/// Bytes of the answer for each line, and for each task of a batch that is refused, about.
const PART: usize = 512;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Price a task, a batch, a workflow run or a month of a schedule",
    description: "Nothing is stored. What is priced is checked as its submit checks it, but for rates, quotas and spend caps; pointers of \
                  mistakes begin with the field. Amounts are whole micro-units: millionths of the currency's unit. `most` is what it \
                  reserves of spend caps, with each task running for all of its execution cap in all of its attempts, all conditions of \
                  a workflow holding, and a `for_each` with as many items as its run may have where another node returns how many there \
                  are. Prices that are known for later are in it.",
    request: Some("QuoteAsk"),
    answers: &[AnswerDoc { status: 200, text: "The quote", content: Content::Json("Quote") }],
    problems: &[Code::NotFound, Code::Conflict, Code::ValidationFailed, Code::NotAvailable],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with what is to be priced, as its submit says it; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Quote>, Problem> {
    call.query()?.finish()?;
    let body = call.body.clone();
    let read = move || {
        let ask: QuoteAsk<&RawValue> = json::parse(&body)?;
        let bytes = |raw: &RawValue| body.slice_ref(raw.get().as_bytes());
        Ok(QuoteAsk {
            task: ask.task.map(bytes),
            batch: ask.batch.map(bytes),
            workflow: ask.workflow.map(bytes),
            schedule: ask.schedule.map(bytes),
            schedule_name: ask.schedule_name,
            month: ask.month,
        })
    };
    let ask: QuoteAsk<Bytes> = call.reading(call.body.len(), read).await?;
    let terms = store::quote::terms(&call.state.api, &call.scope()).await?;
    let subject = subject(&call, ask, &terms).await?;
    let lines = subject.items.len().min(MOST_LINES);
    call.hold.grow((subject.rejected.len() + lines) * PART)?;
    quote(&call, subject, terms).await
}

async fn subject(
    call: &Call,
    ask: QuoteAsk<Bytes>,
    terms: &QuoteTerms,
) -> Result<Subject, Problem> {
    let QuoteAsk { task, batch, workflow, schedule, schedule_name, month } = ask;
    let is_schedule = schedule.is_some() || schedule_name.is_some();
    if !is_schedule && month.is_some() {
        let detail = "is allowed only for a schedule";
        return Err(Problem::at(Code::ValidationFailed, "/month", detail));
    }
    match (task, batch, workflow, is_schedule) {
        (Some(text), None, None, false) => {
            task::task(call, text).await.map_err(|problem| problem.below("/task"))
        }
        (None, Some(text), None, false) => {
            task::batch(call, text).await.map_err(|problem| problem.below("/batch"))
        }
        (None, None, Some(text), false) => {
            workflow::workflow(call, text).await.map_err(|problem| problem.below("/workflow"))
        }
        (None, None, None, true) => {
            let what = schedule::Asked { schedule, name: schedule_name, month };
            schedule::schedule(call, what, terms).await
        }
        _ => {
            let detail = "must have exactly one of `task`, `batch`, `workflow` and `schedule` (or `schedule_name`)";
            Err(Problem::at(Code::ValidationFailed, "", detail))
        }
    }
}

async fn quote(call: &Call, subject: Subject, terms: QuoteTerms) -> Result<Answer<Quote>, Problem> {
    let (db, scope) = (&call.state.api, call.scope());
    let start = expected(call, &subject.start, terms.now).await?;
    let likes = likes(&subject);
    let recent = match terms.book {
        Some(_) => store::quote::recent_use(db, &scope, &likes, terms.now).await?,
        None => Vec::new(),
    };
    let held = store::spend_cap::list(db, &scope).await?;
    let most_tolerance: Duration = call.state.limits.max_delay_tolerance;
    let work = move || {
        let recent = likes.into_iter().zip(recent).collect();
        let asked = Asked { subject: &subject, terms: &terms, recent, most_tolerance };
        let priced = price(&asked);
        let caps = caps(&subject, &terms, priced.as_ref(), held);
        let mut quote = shown(&subject, &terms, priced, start);
        quote.caps = caps;
        let rejected = subject.rejected.into_iter();
        quote.rejected = rejected
            .map(|(index, problem)| QuoteRejected { index, error: Box::new(problem.shown(None)) })
            .collect();
        to_json(&quote)
    };
    let written = call.state.computing.compute(call.caller.tenant(), work).await?;
    Ok(Answer::written(written))
}

/// Which recent tasks say what these will probably use.
fn likes(subject: &Subject) -> Vec<Like> {
    let mut likes: Vec<Like> = subject.like.iter().cloned().collect();
    for item in &subject.items {
        let tier = Like::Tier(item.task.most.tier.map(|tier| tier.to_string()).unwrap_or_default());
        if !likes.contains(&tier) {
            likes.push(tier);
        }
    }
    likes
}

async fn expected(
    call: &Call,
    start: &Start,
    now: domain::time::Timestamp,
) -> Result<QuoteStart, Problem> {
    let ExpectedStart { from, to, reason } = match start {
        Start::Task(task) => {
            let facts = store::task::explain_unsent(&call.state.api, &call.scope(), task).await?;
            expected_start(facts.0, facts.1)
        }
        Start::Due(at) => ExpectedStart {
            from: Some((*at).max(now)),
            to: None,
            reason: "It is due then. What it has to wait for after that is not known.",
        },
        Start::Unknown(reason) => ExpectedStart::unknown(reason),
    };
    Ok(QuoteStart { from, to, reason: reason.to_owned() })
}

fn shown(
    subject: &Subject,
    terms: &QuoteTerms,
    priced: Option<Priced>,
    expected_start: QuoteStart,
) -> Quote {
    let book = terms.book.as_ref().filter(|_| priced.is_some());
    let month = subject.month.as_ref().map(|month| month.view(&terms.zone));
    let priced = priced.unwrap_or_else(|| Priced::without_prices(subject));
    let amount = |micros: Option<Micros>| micros.map(|micros| micros.0).filter(|_| book.is_some());
    let estimate = priced.estimate.map(|mut estimate| {
        estimate.since = domain::price::quarter(terms.now - RECENT);
        estimate
    });
    Quote {
        at: terms.now,
        priced: book.is_some(),
        currency: book.map(|book| book.book.currency.to_string()),
        price_book: book.map(|book| book.name.to_string()),
        price_book_version: book.map(|book| book.version),
        tasks: priced.tasks,
        most: amount(priced.most),
        estimate,
        month,
        lines: priced.lines,
        lines_left_out: priced.lines_left_out,
        cheaper: priced.cheaper,
        caps: Vec::new(),
        expected_start,
        rejected: Vec::new(),
    }
}
