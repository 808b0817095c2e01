//! Log lines on their way to a collector, each with its time and the trace that it was logged in.

use crate::{clock, log_trace};
use opentelemetry::logs::LogRecord;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::LogExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogProcessor, SdkLogRecord, SdkLogger, SdkLoggerProvider};
use std::time::{Duration, SystemTime};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer;
use tracing_subscriber::registry::LookupSpan;

/// What sends log lines: a layer of the subscriber.
pub(crate) struct LogLayer {
    bridge: OpenTelemetryTracingBridge<SdkLoggerProvider, SdkLogger>,
}

impl LogLayer {
    pub(super) fn new(provider: &SdkLoggerProvider) -> Self {
        Self { bridge: OpenTelemetryTracingBridge::new(provider) }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn on_event(&self, event: &Event<'_>, context: layer::Context<'_, S>) {
        // The SDK takes the trace from the present context, and the bridge knows nothing of ours.
        let traced = log_trace::of_spans(context.event_scope(event)).map(|trace| {
            let span: SpanContext = trace.into();
            Context::new().with_remote_span_context(span).attach()
        });
        self.bridge.on_event(event, context);
        drop(traced);
    }
}

/// Sends lines in batches.
pub(super) fn provider(resource: Resource, exporter: LogExporter) -> SdkLoggerProvider {
    SdkLoggerProvider::builder()
        .with_resource(resource)
        .with_log_processor(Stamp)
        .with_batch_exporter(exporter)
        .build()
}

/// Says when it was logged: the bridge leaves that out, and a collector would show its own time.
#[derive(Debug)]
struct Stamp;

impl LogProcessor for Stamp {
    fn emit(&self, record: &mut SdkLogRecord, _scope: &InstrumentationScope) {
        record.set_timestamp(SystemTime::from(clock::wall()));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}
