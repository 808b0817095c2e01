//! Reads a body up to its limit, and not one byte further.
//!
//! Called after authentication and before any parsing. A declared length over the limit is refused at
//! once; a chunked body without one is refused when it passes the limit. Limits count plain bytes: see `inflate`. Compressed
//! bytes have limits too, because a gzip member may hold nothing: without them a body of empty members has no end.

use super::head::Head;
use super::inflate::{Inflate, InflateError};
use super::memory::Hold;
use super::unread::Unread;
use crate::problem::{Code, Problem};
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use futures::StreamExt;
use runtime::clock::{Instant, monotonic};
use std::time::Duration;

/// Most room made before the bytes for it have come: a length is only a promise.
const SEGMENT: usize = 64 * 1024;
/// Compressed bytes that are inflated at once: half a MiB at most, for deflate makes a thousandth of a text and no less, or some 25
/// members that hold nothing.
const INFLATED_AT_ONCE: usize = 512;
/// For so long a body is inflated before the other requests of this thread have their turn, whatever comes out of it.
const TURN: Duration = Duration::from_micros(500);
/// Compressed bytes that may come before the plain bytes that are in them: heads, tables and what a decoder holds back.
const PACKED_AHEAD: usize = 64 * 1024;
/// What gzip adds to a text beyond a thousandth of it, where it cannot be compressed.
const PACKED_MORE: usize = 1024;

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
    /// One JSON object with a workflow, a price book or what is to be priced, `api.max_batch_bytes` at most.
    Workflow,
    /// Nothing, or one JSON object with a value, 96 KiB at most; its type need not be declared.
    Payload,
}

/// What the body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// One JSON document.
    Json,
    /// A JSON document a line (`application/x-ndjson`).
    Lines,
}

/// How large what was sent is, or only that it is too large.
pub(crate) struct SentSize(pub Option<usize>);

impl std::fmt::Display for SentSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes}"),
            None => f.write_str("more"),
        }
    }
}

/// A body that has not been read yet.
pub struct Incoming {
    payload: Option<Payload>,
    /// Gets the payload back where it was not read to its end.
    unread: Unread,
    /// Counts its plain bytes as they come.
    hold: Hold,
    packed: Option<Packed>,
    rule: BodyRule,
    /// Plain bytes that are to come, where the headers say so.
    declared: Option<u64>,
    limit: usize,
    left: usize,
    room: usize,
    /// What it is written in.
    pub media: Media,
}

/// The compressed side of a body.
struct Packed {
    inflate: Inflate,
    /// Compressed bytes that came and were not inflated yet.
    waiting: Bytes,
    /// Compressed bytes that may still come.
    left: usize,
    /// Compressed bytes that were inflated, and the plain bytes that came of them.
    inflated: (usize, usize),
    /// When the others had their turn.
    turn: Instant,
}

impl Packed {
    fn new(limit: usize) -> Self {
        Self {
            inflate: Inflate::new(limit),
            waiting: Bytes::new(),
            left: packed_limit(limit),
            inflated: (0, 0),
            turn: monotonic(),
        }
    }

    /// The next plain bytes of those that wait; `None` where none does.
    async fn next(&mut self) -> Result<Option<Bytes>, InflateError> {
        while !self.waiting.is_empty() {
            if self.turn.elapsed() >= TURN {
                tokio::task::yield_now().await;
                self.turn = monotonic();
            }
            let some = self.waiting.split_to(INFLATED_AT_ONCE.min(self.waiting.len()));
            let plain = self.inflate.push(&some)?;
            let (packed_bytes, plain_bytes) = &mut self.inflated;
            *packed_bytes += some.len();
            *plain_bytes += plain.len();
            if *packed_bytes > PACKED_AHEAD + 2 * *plain_bytes {
                return Err(InflateError::Padded);
            }
            if !plain.is_empty() {
                return Ok(Some(Bytes::from(plain)));
            }
        }
        Ok(None)
    }

    /// What comes out at the end of the body, where the checksum is judged.
    fn finish(&mut self) -> Result<Option<Bytes>, InflateError> {
        if self.inflate.is_finished() {
            return Ok(None);
        }
        let plain = self.inflate.finish()?;
        Ok(Some(Bytes::from(plain)).filter(|plain| !plain.is_empty()))
    }
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
        request: &Head,
        (unread, hold): (&Unread, &Hold),
        rule: BodyRule,
        limit: usize,
    ) -> Result<Self, Problem> {
        let headers = request.headers();
        let compressed = is_compressed(headers)?;
        let declared = declared_length(headers)?;
        let most = if compressed { packed_limit(limit) } else { limit };
        if declared.is_some_and(|length| length > most as u64) {
            return Err(too_large(rule, limit, declared.filter(|_| !compressed)));
        }
        let untyped = rule == BodyRule::Change && !headers.contains_key(CONTENT_TYPE);
        let media = match rule {
            BodyRule::Empty | BodyRule::Optional | BodyRule::Payload => Media::Json,
            BodyRule::Change if untyped => Media::Json,
            BodyRule::None
            | BodyRule::Small
            | BodyRule::Task
            | BodyRule::Change
            | BodyRule::Workflow
            | BodyRule::Batch => media(headers, rule)?,
        };
        let room = declared.map_or(0, |length| usize::try_from(length).unwrap_or(SEGMENT));
        Ok(Self {
            payload: unread.take(),
            unread: unread.clone(),
            hold: hold.clone(),
            packed: compressed.then(|| Packed::new(limit)),
            rule,
            declared: declared.filter(|_| !compressed),
            limit,
            left: limit,
            room: room.min(SEGMENT),
            media,
        })
    }

    /// The next plain bytes, `None` at the end. They are counted as held, until whoever takes them gives them back.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let next = self.read_on().await?;
        if let Some(bytes) = &next {
            self.hold.grow(bytes.len())?;
        }
        Ok(next)
    }

    /// Where its bytes are counted.
    pub(super) const fn hold(&self) -> &Hold {
        &self.hold
    }

    async fn read_on(&mut self) -> Result<Option<Bytes>, Problem> {
        let (rule, limit) = (self.rule, self.limit);
        let unreadable = |error| unreadable(error, rule, limit);
        loop {
            if let Some(packed) = &mut self.packed
                && let Some(plain) = packed.next().await.map_err(unreadable)?
            {
                return Ok(Some(plain));
            }
            let chunk = match &mut self.payload {
                Some(payload) => payload.next().await,
                None => None,
            };
            let Some(chunk) = chunk else {
                self.payload = None;
                return match &mut self.packed {
                    Some(packed) => packed.finish().map_err(unreadable),
                    None => Ok(None),
                };
            };
            let chunk = chunk.map_err(|_| {
                Problem::new(Code::InvalidJson, "The body ended before it was complete.")
            })?;
            let (left, seen) = match &mut self.packed {
                Some(packed) => (&mut packed.left, None),
                None => (&mut self.left, self.declared),
            };
            *left = left.checked_sub(chunk.len()).ok_or_else(|| too_large(rule, limit, seen))?;
            match &mut self.packed {
                Some(packed) => packed.waiting = chunk,
                None => return Ok(Some(chunk)),
            }
        }
    }

    /// The whole body, at most the limit.
    pub(crate) async fn whole(mut self) -> Result<Bytes, Problem> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        // Most bodies come in one piece: then nothing is copied.
        let Some(second) = self.next().await? else { return Ok(first) };
        let mut gathered = Gathered::new(self.room.max(first.len() + second.len()));
        gathered.push(&first);
        gathered.push(&second);
        drop((first, second));
        while let Some(chunk) = self.next().await? {
            gathered.push(&chunk);
        }
        Ok(gathered.whole())
    }
}

/// A body that comes in many pieces, in segments of one size: while it grows nothing is moved, and what one body gives back the next
/// one takes.
struct Gathered {
    full: Vec<BytesMut>,
    last: BytesMut,
}

impl Gathered {
    fn new(room: usize) -> Self {
        Self { full: Vec::new(), last: BytesMut::with_capacity(room.min(SEGMENT)) }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.last.len() == SEGMENT {
                self.full.push(std::mem::replace(&mut self.last, BytesMut::with_capacity(SEGMENT)));
            }
            let (now, later) = bytes.split_at(bytes.len().min(SEGMENT - self.last.len()));
            self.last.extend_from_slice(now);
            bytes = later;
        }
    }

    fn whole(self) -> Bytes {
        if self.full.is_empty() {
            return self.last.freeze();
        }
        let mut body = BytesMut::with_capacity(self.full.len() * SEGMENT + self.last.len());
        // Each is given back when it is copied.
        for segment in self.full.into_iter().chain([self.last]) {
            body.extend_from_slice(&segment);
        }
        body.freeze()
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(payload) = self.payload.take() {
            self.unread.put_back(payload);
        }
    }
}

/// Most compressed bytes of a body of `limit` plain ones: what cannot be compressed is stored as it is, with a little around it.
const fn packed_limit(limit: usize) -> usize {
    limit + limit / 1000 + PACKED_MORE
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
        | BodyRule::Payload
        | BodyRule::Workflow
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
                let detail = "The only supported Content-Encoding is gzip, applied once.";
                return Err(Problem::new(Code::UnsupportedMediaType, detail));
            }
        }
    }
    Ok(compressed)
}

fn unreadable(error: InflateError, rule: BodyRule, limit: usize) -> Problem {
    match error {
        InflateError::TooLarge => too_large(rule, limit, None),
        InflateError::Padded => Problem::new(
            Code::PayloadTooLarge,
            "The compressed body is far larger than its content: send it uncompressed.",
        ),
        InflateError::NotGzip => {
            Problem::new(Code::InvalidJson, "The body is not valid gzip, or incomplete.")
        }
    }
}

/// Which limit was passed, and by how much. Of one task the caller says more: the limit may be its plan's.
pub(super) fn too_large(rule: BodyRule, limit: usize, seen: Option<u64>) -> Problem {
    let seen = SentSize(seen.and_then(|seen| usize::try_from(seen).ok()));
    let what = match rule {
        BodyRule::Batch => {
            format!("{limit} bytes (`api.max_batch_bytes` of this installation)")
        }
        BodyRule::None
        | BodyRule::Empty
        | BodyRule::Optional
        | BodyRule::Small
        | BodyRule::Task
        | BodyRule::Payload
        | BodyRule::Workflow
        | BodyRule::Change => format!("{limit} bytes"),
    };
    Problem::new(
        Code::PayloadTooLarge,
        format!("The limit of this body is {what}; this one has {seen}."),
    )
}

/// How large a body is, where its headers say so: not where it is compressed.
pub(crate) fn plain_length(request: &Head) -> Option<usize> {
    let headers = request.headers();
    let plain = is_compressed(headers).is_ok_and(|compressed| !compressed);
    let declared = declared_length(headers).ok().flatten().filter(|_| plain);
    declared.and_then(|length| usize::try_from(length).ok())
}
