//! `GET /v1/tasks/{id}/logs`: what a task wrote, as pages of chunks, or raw.
//!
//! Chunks are bytes cut wherever the pipe was read: one that is not UTF-8 by itself is shown as base64, so
//! that nothing is lost. Output is other people's: it is never sent as anything a browser would run.

use super::chunk::log_chunk;
use super::log_range::{LogRange, MAX_TAIL};
use super::{follow, raw_logs};
use crate::answer::{Answer, Render};
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::request::{Query, accepts_events, wrong_parameter};
use actix_web::HttpResponse;
use api_types::Page;
use domain::id::TaskId;
use store::output::{OutputChunk, OutputFilter, OutputPosition};

/// Chunks of one look at the database, at most.
const STEP: u32 = 500;
/// A page ends when it holds this much.
const PAGE_BYTES: usize = 1024 * 1024;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the output of a task",
    description: "By attempt, and within an attempt in the order in which the executor read both streams. A gap in `offset` of a \
                  stream means bytes that were not stored. `tail` and `since` set the start; a cursor or a `Last-Event-ID` continues \
                  from its position. A page may be shorter than `limit`; the last one has no `next_cursor`.\n\n\
                  With `Accept: text/event-stream` or `follow=true` the response is a stream of server-sent events until the task \
                  has finished: `output` (a LogChunk), `state` (a FollowedState, when it changes) and at last `end` (a \
                  FollowedState). A stream that ends without `end` was interrupted, for example by a restart: reconnect with the id \
                  of the last event in `Last-Event-ID`, and it continues without a gap. `limit`, `cursor` and `format` do not apply.",
    headers: &[Param {
        name: "Last-Event-ID",
        text: "Id of the last received event; the stream continues after it",
        form: Form::Pattern("^([0-9]{1,10}([.][0-9]{1,10}){2}([.][0-9]{1,10}[.][0-9]{1,10})?)?$"),
    }],
    query: &[
        Param {
            name: "attempt",
            text: "Attempt",
            form: Form::Whole { least: 0, most: u32::MAX, usual: None },
        },
        Param {
            name: "stream",
            text: "Only `stdout` or `stderr`",
            form: Form::Schema("LogStream"),
        },
        Param {
            name: "tail",
            text: "Only the last N lines, 0 to 10000, over both streams",
            form: Form::Whole { least: 0, most: MAX_TAIL, usual: None },
        },
        Param {
            name: "since",
            text: "Only output stored since this time (RFC 3339) or age, such as `10m`",
            form: Form::Text,
        },
        Param { name: "follow", text: "`true`: live, as server-sent events", form: Form::Flag },
        Param {
            name: "format",
            text: "`raw`: the bytes, without pages",
            form: Form::OneOf(&["json", "raw"]),
        },
        PAGE[0],
        PAGE[1],
    ],
    answers: &[AnswerDoc {
        status: 200,
        text: "A page, or the bytes",
        content: Content::Output("LogChunk", "FollowedState"),
    }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound, Code::TooManyStreams],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let task = call.task_id()?;
    let mut query = call.query()?;
    if follows(&call, &mut query)? {
        let (range, _) = LogRange::take(&mut query, task)?;
        query.finish()?;
        return follow::answer(&call, task, range).await;
    }
    let page = PageRequest::take(&mut query)?;
    let (range, context) = LogRange::take(&mut query, task)?;
    let raw = match query.one("format")?.as_deref() {
        None | Some("json") => false,
        Some("raw") => true,
        Some(_) => return Err(wrong_parameter("format", "must be json or raw")),
    };
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let from = match page.position(sealer, tenant, context)? {
        Some(bytes) => read_position(&bytes)?,
        None => range.begin(&call, task).await?,
    };
    let filter = range.filter(from);
    if raw {
        return raw_logs::answer(&call, task, filter).await;
    }
    let (chunks, next) = read_page(&call, task, filter, page.limit).await?;
    if chunks.is_empty() {
        super::raw_logs::must_exist(&call, task).await?;
    }
    let next_cursor = next.map(|place| sealer.seal(tenant, context, &write_position(place)));
    let data = chunks.into_iter().map(log_chunk).collect();
    Answer::ok(Page { data, next_cursor }).render()
}

/// Whether the client asks for live output, in one of two ways.
fn follows(call: &Call, query: &mut Query) -> Result<bool, Problem> {
    let asked = match query.one("follow")?.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(wrong_parameter("follow", "must be true or false")),
    };
    Ok(asked.unwrap_or_else(|| accepts_events(call.request.headers())))
}

/// Up to `limit` chunks or a page's worth of bytes, and where there are more.
async fn read_page(
    call: &Call,
    task: TaskId,
    mut filter: OutputFilter,
    limit: u32,
) -> Result<(Vec<OutputChunk>, Option<OutputPosition>), Problem> {
    let (mut chunks, mut bytes) = (Vec::new(), 0);
    loop {
        // One more than is wanted tells that there are more.
        let wanted = limit - u32::try_from(chunks.len()).unwrap_or(limit);
        let step = STEP.min(wanted.saturating_add(1));
        let found = store::output::read(&call.state.api, &call.scope(), task, filter, step).await?;
        for chunk in found.chunks {
            if chunks.len() == limit as usize || bytes >= PAGE_BYTES {
                return Ok((chunks, Some(filter.from)));
            }
            bytes += chunk.data.len();
            filter.from = filter.from.after(&chunk);
            chunks.push(chunk);
        }
        if !found.more {
            return Ok((chunks, None));
        }
    }
}

const PLACE: usize = 5 * size_of::<u32>();

fn write_position(place: OutputPosition) -> [u8; PLACE] {
    let OutputPosition { attempt, stdout, stderr, stdout_skip, stderr_skip } = place;
    let mut bytes = [0; PLACE];
    let numbers = [attempt, stdout, stderr, stdout_skip, stderr_skip];
    for (four, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        four.copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

fn read_position(bytes: &[u8]) -> Result<OutputPosition, Problem> {
    let (numbers, []) = bytes.as_chunks::<4>() else { return Err(outdated_cursor()) };
    let [attempt, stdout, stderr, stdout_skip, stderr_skip] = numbers else {
        return Err(outdated_cursor());
    };
    let [attempt, stdout, stderr, stdout_skip, stderr_skip] =
        [attempt, stdout, stderr, stdout_skip, stderr_skip].map(|four| u32::from_be_bytes(*four));
    Ok(OutputPosition { attempt, stdout, stderr, stdout_skip, stderr_skip })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_reads_back_as_written() {
        let place = OutputPosition {
            attempt: 3,
            stdout: 70_000,
            stderr: u32::MAX,
            stdout_skip: 1,
            stderr_skip: 65_535,
        };
        assert_eq!(read_position(&write_position(place)).unwrap(), place);
        assert!([0, 4, 9, 16, 19, 21, 24].iter().all(|len| read_position(&vec![0; *len]).is_err()));
    }
}
