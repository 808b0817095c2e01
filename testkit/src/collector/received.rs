//! What a collector remembers, whatever carried it.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;

/// A span as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The service that sent it.
    pub service: String,
    /// Its name.
    pub name: String,
    /// Trace id, 32 hex digits.
    pub trace: String,
    /// Span id, 16 hex digits.
    pub id: String,
    /// The parent's span id; empty for a root.
    pub parent: String,
    /// When it began, ns since 1970.
    pub start_ns: u64,
    /// When it ended, ns since 1970.
    pub end_ns: u64,
}

/// A log line as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub body: String,
    /// When it was logged, ns since 1970; 0: it does not say.
    pub time_ns: u64,
    /// Trace id, 32 hex digits; empty for none.
    pub trace: String,
    /// Span id, 16 hex digits; empty for none.
    pub span: String,
}

/// All that was sent.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Spans, in the order in which they came.
    pub spans: Vec<Span>,
    /// Bodies of log lines, with their service.
    pub lines: Vec<(String, String)>,
    /// The same lines with what else they say.
    pub records: Vec<Line>,
    /// Metrics, with their service.
    pub metrics: Vec<(String, Metric)>,
    /// Every export, whole, as text: to search what no field above holds.
    pub exports: Vec<String>,
    /// `authorization` headers.
    pub authorizations: Vec<String>,
}

impl Received {
    pub(super) fn add_spans(&mut self, request: &ExportTraceServiceRequest) {
        for of_resource in &request.resource_spans {
            let service = service(of_resource.resource.as_ref());
            for span in of_resource.scope_spans.iter().flat_map(|scope| &scope.spans) {
                self.spans.push(Span {
                    service: service.clone(),
                    name: span.name.clone(),
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    start_ns: span.start_time_unix_nano,
                    end_ns: span.end_time_unix_nano,
                });
            }
        }
    }

    pub(super) fn add_lines(&mut self, request: &ExportLogsServiceRequest) {
        for of_resource in &request.resource_logs {
            let service = service(of_resource.resource.as_ref());
            for line in of_resource.scope_logs.iter().flat_map(|scope| &scope.log_records) {
                let body = text(line.body.as_ref());
                self.lines.push((service.clone(), body.clone()));
                let (trace, span) = (hex(&line.trace_id), hex(&line.span_id));
                self.records.push(Line { body, time_ns: line.time_unix_nano, trace, span });
            }
        }
    }

    pub(super) fn add_metrics(&mut self, request: &ExportMetricsServiceRequest) {
        for of_resource in &request.resource_metrics {
            let service = service(of_resource.resource.as_ref());
            for metric in of_resource.scope_metrics.iter().flat_map(|scope| &scope.metrics) {
                self.metrics.push((service.clone(), metric.clone()));
            }
        }
    }
}

fn service(resource: Option<&Resource>) -> String {
    let attributes = resource.map(|resource| resource.attributes.as_slice()).unwrap_or_default();
    let name = attributes.iter().find(|attribute| attribute.key == "service.name");
    text(name.and_then(|name| name.value.as_ref()))
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
