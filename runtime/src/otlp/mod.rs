//! Sends spans, log lines and metrics to an OpenTelemetry collector, by OTLP over gRPC or HTTP.
//!
//! Off unless `telemetry.otlp_endpoint` is set, and then in the background: what cannot be sent in time is dropped,
//! because a collector that is down must not slow or fail any work. Spans are made of facts the pipeline has anyway (when
//! a task was due, placed, ended), each by the process that knows them, all under the trace of the submit.

mod export;
mod exporters;
mod grpc;
mod headers;
mod http;
mod http_sender;
mod lines;
mod metrics;
mod span;

pub use export::flush;
pub use exporters::OtlpError;
pub use span::{Kind, SpanRecord, is_on, record};

pub(crate) use export::start;
pub(crate) use metrics::begin;
