//! Which trace a log line belongs to.
//!
//! [`tag`] ties a `tracing` span to a trace; lines logged in it, or in spans below it, carry the ids of both: as fields `trace_id` and
//! `span_id` of a JSON line, and in the record that is exported.

use crate::trace::TraceContext;
use std::fmt;
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::fmt::format::{Format, Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// Says that what is logged in `span` belongs to `trace`.
pub fn tag(span: &tracing::Span, trace: TraceContext) {
    span.with_subscriber(|(id, subscriber)| {
        if let Some(registry) = subscriber.downcast_ref::<Registry>()
            && let Some(span) = registry.span(id)
        {
            span.extensions_mut().replace(trace);
        }
    });
}

/// The trace of the innermost of these spans that has one.
pub(crate) fn of_spans<'a, R: LookupSpan<'a>>(spans: Option<Scope<'a, R>>) -> Option<TraceContext> {
    spans?.find_map(|span| span.extensions().get::<TraceContext>().copied())
}

/// JSON lines with the ids of the trace.
pub(crate) struct JsonLines {
    pub(crate) plain: Format<Json>,
}

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(trace) = of_spans(context.event_scope()) else {
            return self.plain.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.plain.format_event(context, Writer::new(&mut line), event)?;
        let open = line.trim_end().strip_suffix('}').ok_or(fmt::Error)?;
        let (trace_id, span_id) = (trace.trace_id(), trace.span_id());
        writeln!(writer, "{open},\"trace_id\":\"{trace_id}\",\"span_id\":\"{span_id}\"}}")
    }
}
