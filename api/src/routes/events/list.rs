//! `GET /v1/events`: what changed, in pages of lines, or live.

use super::place::{opened, sealed};
use super::stream;
use super::view::{Shown, is_for, line};
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, Form, Param};
use crate::pagination::outdated_cursor;
use crate::problem::{Code, Problem};
use crate::request::{Query, accepts_events, wrong_parameter};
use crate::routes::schedules::schedule_of;
use actix_web::HttpResponse;
use api_types::Cursor;
use domain::event::{EventFilter, TypePattern};
use domain::id::TaskId;
use domain::webhook::MOST_LABELS;
use std::collections::BTreeMap;
use store::event::EventPlace;

/// Events of one page, at most.
const MOST: u32 = 1000;
const USUAL: u32 = 100;
/// Patterns of types, at most.
const MOST_TYPES: usize = 20;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read events",
    description: "What changed, as CloudEvents 1.0, one a line, oldest first. Types: `berth.task.started`, `retrying`, `cancelling`, and the \
                  end of a task by its state (`berth.task.succeeded`, `failed`, …); `berth.schedule.missed`, `paused`; `berth.quota.nearly_used`; \
                  `berth.spend_cap.used`.\n\n\
                  Events of tasks are recorded from the first request on, and for 25 hours after the last one; they can be read for three \
                  days. Without a `cursor` a page begins with the oldest. `Next-Cursor` is where to go on, also when there was nothing; keep \
                  it when all was handled, and no event is left out. An event that comes twice has the same `id`.\n\n\
                  With `Accept: text/event-stream` the response is a stream of server-sent events, from now on, or from the \
                  `Last-Event-ID` on; `limit` and `cursor` do not apply.",
    headers: &[Param {
        name: "Last-Event-ID",
        text: "Id of the last received event; the stream continues after it",
        form: Form::Text,
    }],
    query: &[
        Param {
            name: "type",
            text: "Type, or with `*` at its end the beginning of types; comma-separated or repeated",
            form: Form::Many(&Form::Pattern("^berth[.][a-z._]*[*]?(,berth[.][a-z._]*[*]?)*$")),
        },
        Param { name: "name", text: "Exact name of the task", form: Form::Text },
        Param { name: "task", text: "Task", form: Form::Text },
        Param {
            name: "schedule",
            text: "Schedule, by name or id: its own events and those of its tasks",
            form: Form::Text,
        },
        Param { name: "workflow_run", text: "Workflow run that the task is of", form: Form::Text },
        Param {
            name: "workflow",
            text: "Workflow, by name, of whose runs the task is",
            form: Form::Text,
        },
        Param {
            name: "label",
            text: "Label of the task, `key=value`; repeated: all of them",
            form: Form::Many(&Form::Text),
        },
        Param {
            name: "limit",
            text: "Events that are looked at, 1 to 1000; default 100",
            form: Form::Whole { least: 1, most: MOST, usual: Some(USUAL) },
        },
        Param {
            name: "cursor",
            text: "The `Next-Cursor` of the response before",
            form: Form::Text,
        },
        Param {
            name: "from",
            text: "Without a cursor: `oldest` (default), or `now` for a first cursor and no event",
            form: Form::OneOf(&["oldest", "now"]),
        },
    ],
    answers: &[AnswerDoc { status: 200, text: "The events", content: Content::AnyLines }],
    answer_headers: &[AnswerHeader::NextCursor],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound, Code::TooManyStreams],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; `not_found` for a schedule of no such name; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let filter = filter(&call, &mut query).await?;
    if accepts_events(call.request.headers()) {
        query.finish()?;
        return stream::answer(&call, filter).await;
    }
    let limit = match query.one("limit")? {
        None => USUAL,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MOST).contains(limit))
            .ok_or_else(|| wrong_parameter("limit", "must be a whole number from 1 to 1000"))?,
    };
    let cursor = query.one("cursor")?.map(Cursor::from);
    let from_now = match query.one("from")?.as_deref() {
        None | Some("oldest") => false,
        Some("now") => true,
        Some(_) => return Err(wrong_parameter("from", "must be oldest or now")),
    };
    query.finish()?;
    let after = match (&cursor, from_now) {
        (Some(cursor), _) => Some(opened(&call, cursor)?),
        (None, false) => Some(EventPlace::default()),
        (None, true) => None,
    };
    let (db, scope) = (&call.state.api, call.scope());
    store::event::follow_feed(db, &scope).await?;
    let found = store::event::feed(db, &scope, after, limit).await?;
    let found = found.ok_or_else(outdated_cursor)?;
    let mut body = String::new();
    for record in found.events {
        let shown = Shown::of(record);
        if is_for(call.caller.permissions(), &filter, &shown) {
            body.push_str(&line(&shown.event(&call.state.source))?);
            body.push('\n');
        }
    }
    call.hold.grow(body.len())?;
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header((
            "Next-Cursor",
            sealed(&call.state, call.caller.tenant(), found.next).as_str().to_owned(),
        ))
        .body(body))
}

/// Labels that a task must have.
fn labels(query: &mut Query) -> Result<BTreeMap<String, String>, Problem> {
    let wrong = || wrong_parameter("label", "must be of the form key=value");
    let texts = query.all("label");
    if texts.len() > MOST_LABELS {
        return Err(wrong_parameter("label", &format!("must name at most {MOST_LABELS} labels")));
    }
    let pairs = texts.iter().map(|text| {
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        Ok((key.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

async fn filter(call: &Call, query: &mut Query) -> Result<EventFilter, Problem> {
    let mut types = Vec::new();
    for text in query.all("type") {
        for pattern in text.split(',') {
            let pattern: TypePattern =
                pattern.parse().map_err(|error: domain::event::ParseTypePatternError| {
                    wrong_parameter("type", &error.to_string())
                })?;
            types.push(pattern);
        }
    }
    if types.len() > MOST_TYPES {
        return Err(wrong_parameter("type", &format!("must name at most {MOST_TYPES} types")));
    }
    let schedule = match query.one("schedule")? {
        Some(text) => Some(schedule_of(call, &text).await?),
        None => None,
    };
    Ok(EventFilter {
        types,
        name: query.one("name")?,
        task: query.parsed::<TaskId>("task", "the id of a task")?,
        schedule,
        workflow_run: query.parsed("workflow_run", "the id of a workflow run")?,
        workflow: query.one("workflow")?,
        labels: labels(query)?,
        schedule_name: None,
    })
}
