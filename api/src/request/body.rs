//! Reads a body up to its limit, and not one byte further.
//!
//! Called after authentication and before any parsing. A declared length over the limit is refused at
//! once; a chunked body without one is refused when it passes the limit. Limits count plain bytes: see `inflate`.

use super::inflate::{Inflate, InflateError};
use crate::problem::{Code, Problem};
use crate::quota::Seen;
use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use futures::StreamExt;

/// Most room made before the first byte has come: a length is only a promise.
const FIRST_ROOM: usize = 64 * 1024;
/// Compressed bytes that are inflated at once: they become half a MiB at most, for deflate makes a thousandth of a text, and no less.
const INFLATED_AT_ONCE: usize = 512;
/// After as many plain bytes it is the turn of the other requests of this thread: a bomb is in hand for a millisecond at a time.
const LONG: usize = 64 * 1024;

/// What body a route takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// None: what is sent is not read.
    None,
    /// Nothing or one JSON object, 1 KiB at most; its type need not be declared.
    Empty,
    /// The same, 16 KiB at most.
    Optional,
    /// One JSON object about anything but tasks, 16 KiB at most.
    Small,
    /// One task, `api.max_task_bytes` at most.
    Task,
    /// Nothing, or one JSON object that says what changes of a task, `api.max_task_bytes` at most.
    Change,
    /// Many tasks, `api.max_batch_bytes` at most: one JSON object, or a line for each.
    Batch,
}

/// What the body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// One JSON document.
    Json,
    /// A JSON document a line (`application/x-ndjson`).
    Lines,
}

/// A body that has not been read yet.
pub struct Incoming {
    payload: Payload,
    inflate: Option<Inflate>,
    /// Compressed bytes that came and were not inflated yet.
    waiting: Bytes,
    /// Plain bytes that came of those since the others had their turn.
    inflated: usize,
    rule: BodyRule,
    /// Plain bytes that are to come, where the headers say so.
    declared: Option<u64>,
    limit: usize,
    left: usize,
    room: usize,
    /// What it is written in.
    pub media: Media,
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming")
            .field("media", &self.media)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl Incoming {
    /// Judges what the headers say of a body of at most `limit` plain bytes.
    pub(crate) fn open(
        request: &HttpRequest,
        payload: Payload,
        rule: BodyRule,
        limit: usize,
    ) -> Result<Self, Problem> {
        let headers = request.headers();
        let compressed = is_compressed(headers)?;
        let declared = declared_length(headers)?;
        if !compressed && declared.is_some_and(|length| length > limit as u64) {
            return Err(too_large(rule, limit, declared));
        }
        let untyped = rule == BodyRule::Change && !headers.contains_key(CONTENT_TYPE);
        let media = match rule {
            BodyRule::Empty | BodyRule::Optional => Media::Json,
            BodyRule::Change if untyped => Media::Json,
            BodyRule::None
            | BodyRule::Small
            | BodyRule::Task
            | BodyRule::Change
            | BodyRule::Batch => media(headers, rule)?,
        };
        let room = declared.map_or(0, |length| usize::try_from(length).unwrap_or(FIRST_ROOM));
        Ok(Self {
            payload,
            inflate: compressed.then(|| Inflate::new(limit)),
            waiting: Bytes::new(),
            inflated: 0,
            rule,
            declared: declared.filter(|_| !compressed),
            limit,
            left: limit,
            room: room.min(FIRST_ROOM),
            media,
        })
    }

    /// The next plain bytes, `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            if let Some(inflate) = &mut self.inflate
                && !self.waiting.is_empty()
            {
                let some = self.waiting.split_to(INFLATED_AT_ONCE.min(self.waiting.len()));
                let plain = inflate
                    .push(&some)
                    .map_err(|error| unreadable(error, self.rule, self.limit))?;
                if plain.is_empty() {
                    continue;
                }
                self.inflated += plain.len();
                if self.inflated >= LONG {
                    self.inflated = 0;
                    tokio::task::yield_now().await;
                }
                return Ok(Some(Bytes::from(plain)));
            }
            let Some(chunk) = self.payload.next().await else {
                return match &mut self.inflate {
                    // The last bytes may come out only now, and the checksum is judged.
                    Some(inflate) if !inflate.is_finished() => {
                        let plain = inflate
                            .finish()
                            .map_err(|error| unreadable(error, self.rule, self.limit))?;
                        Ok(Some(Bytes::from(plain)).filter(|plain| !plain.is_empty()))
                    }
                    Some(_) | None => Ok(None),
                };
            };
            let chunk = chunk.map_err(|_| {
                Problem::new(Code::InvalidJson, "The body ended before it was complete.")
            })?;
            if self.inflate.is_some() {
                self.waiting = chunk;
                continue;
            }
            self.left = self
                .left
                .checked_sub(chunk.len())
                .ok_or_else(|| too_large(self.rule, self.limit, self.declared))?;
            return Ok(Some(chunk));
        }
    }

    /// The whole body, at most the limit.
    pub(crate) async fn whole(mut self) -> Result<Bytes, Problem> {
        let mut first: Option<Bytes> = None;
        let mut body = BytesMut::new();
        while let Some(chunk) = self.next().await? {
            let so_far = body.len() + first.as_ref().map_or(0, Bytes::len);
            // Most bodies come in one piece: then nothing is copied.
            if so_far == 0 {
                first = Some(chunk);
            } else {
                if let Some(first) = first.take() {
                    body.reserve(self.room.max(so_far + chunk.len()));
                    body.extend_from_slice(&first);
                }
                body.extend_from_slice(&chunk);
            }
        }
        Ok(first.unwrap_or_else(|| body.freeze()))
    }
}

fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(header) = headers.get(CONTENT_LENGTH) else { return Ok(None) };
    let length = header.to_str().ok().and_then(|text| text.parse().ok());
    length.map(Some).ok_or_else(|| {
        Problem::at(Code::InvalidParameter, "header:Content-Length", "must be a whole number")
    })
}

fn media(headers: &HeaderMap, rule: BodyRule) -> Result<Media, Problem> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(Media::Json);
    }
    if rule == BodyRule::Batch && essence.eq_ignore_ascii_case("application/x-ndjson") {
        return Ok(Media::Lines);
    }
    let kinds = match rule {
        BodyRule::Batch => "`Content-Type: application/json` or `application/x-ndjson`",
        BodyRule::None
        | BodyRule::Empty
        | BodyRule::Optional
        | BodyRule::Small
        | BodyRule::Task
        | BodyRule::Change => "`Content-Type: application/json`",
    };
    Err(Problem::new(Code::UnsupportedMediaType, format!("Send the body with {kinds}.")))
}

/// Plain or gzip, once.
fn is_compressed(headers: &HeaderMap) -> Result<bool, Problem> {
    let mut compressed = false;
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value.to_str().unwrap_or("?").trim();
        match value {
            _ if value.is_empty() || value.eq_ignore_ascii_case("identity") => {}
            _ if !compressed && value.eq_ignore_ascii_case("gzip") => compressed = true,
            _ => {
                let detail = "Of compressed bodies only gzip is taken, once; or send it plain.";
                return Err(Problem::new(Code::UnsupportedMediaType, detail));
            }
        }
    }
    Ok(compressed)
}

fn unreadable(error: InflateError, rule: BodyRule, limit: usize) -> Problem {
    match error {
        InflateError::TooLarge => too_large(rule, limit, None),
        InflateError::NotGzip => Problem::new(
            Code::InvalidJson,
            "The body is not the gzip that its Content-Encoding says, or it ended before it was complete.",
        ),
    }
}

/// Which limit was passed, and by how much. Of one task the caller says more: the limit may be its plan's.
fn too_large(rule: BodyRule, limit: usize, seen: Option<u64>) -> Problem {
    let seen = Seen(seen.and_then(|seen| usize::try_from(seen).ok()));
    let what = match rule {
        BodyRule::Batch => {
            format!("{limit} bytes at most (`api.max_batch_bytes` of this installation)")
        }
        BodyRule::None
        | BodyRule::Empty
        | BodyRule::Optional
        | BodyRule::Small
        | BodyRule::Task
        | BodyRule::Change => format!("{limit} bytes at most"),
    };
    Problem::new(
        Code::PayloadTooLarge,
        format!("The body of this request may have {what}; this one has {seen}."),
    )
}

/// How large a body is, where its headers say so: not where it is compressed.
pub(crate) fn plain_length(request: &HttpRequest) -> Option<usize> {
    let headers = request.headers();
    let plain = is_compressed(headers).is_ok_and(|compressed| !compressed);
    let declared = declared_length(headers).ok().flatten().filter(|_| plain);
    declared.and_then(|length| usize::try_from(length).ok())
}
