//! Spans, made of facts.
//!
//! Not of `tracing` spans: a task's life passes through several processes and through rows, so that who knows when
//! something began was not there when it did. A span is recorded when its end is known, under the trace context that
//! came with the row or the request.

use crate::trace::TraceContext;
use domain::time::Timestamp;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{
    BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor,
};
use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Something that took time.
#[derive(Debug, Clone)]
pub struct SpanRecord {
    /// Its name, such as `task.run`.
    pub name: &'static str,
    /// Its trace, and its own id within.
    pub context: TraceContext,
    /// What caused it; `None` for a root.
    pub parent: Option<TraceContext>,
    /// Its role in a conversation.
    pub kind: Kind,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// What else is known.
    pub attributes: Vec<(&'static str, String)>,
    /// Why it failed, where it did.
    pub error: Option<String>,
}

/// A span's role in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers a request.
    Server,
    /// Takes something from a queue.
    Consumer,
    /// Anything else.
    Internal,
}

impl From<TraceContext> for SpanContext {
    fn from(context: TraceContext) -> Self {
        let (trace_id, span_id) = context.ids();
        let flags =
            if context.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
        let (trace_id, span_id) = (TraceId::from_bytes(trace_id), SpanId::from_bytes(span_id));
        Self::new(trace_id, span_id, flags, false, TraceState::default())
    }
}

static PROCESSOR: OnceLock<BatchSpanProcessor> = OnceLock::new();

pub(super) fn install(processor: BatchSpanProcessor) {
    // Telemetry is set up once in a process; a second time is an error before it comes here.
    drop(PROCESSOR.set(processor));
}

pub(super) fn shut_down() {
    if let Some(processor) = PROCESSOR.get()
        && let Err(error) = processor.shutdown()
    {
        tracing::debug!(%error, "The last spans were not exported");
    }
}

/// True where spans are exported: otherwise there is no point in making them.
#[must_use]
pub fn is_on() -> bool {
    PROCESSOR.get().is_some()
}

/// Exports `span` soon, where its trace is sampled and spans are exported at all. Never waits.
pub fn record(span: SpanRecord) {
    let Some(processor) = PROCESSOR.get().filter(|_| span.context.is_sampled()) else { return };
    let parent = span.parent.map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.ids().1));
    let kind = match span.kind {
        Kind::Server => SpanKind::Server,
        Kind::Consumer => SpanKind::Consumer,
        Kind::Internal => SpanKind::Internal,
    };
    processor.on_end(SpanData {
        span_context: SpanContext::from(span.context),
        parent_span_id: parent,
        parent_span_is_remote: span.parent.is_some(),
        span_kind: kind,
        name: Cow::Borrowed(span.name),
        start_time: SystemTime::from(span.start),
        end_time: SystemTime::from(span.end.max(span.start)),
        attributes: span.attributes.into_iter().map(|(k, v)| KeyValue::new(k, v)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: span.error.map_or(Status::Unset, Status::error),
        instrumentation_scope: InstrumentationScope::builder("berth").build(),
    });
}
