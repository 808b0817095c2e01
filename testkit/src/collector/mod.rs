//! An OpenTelemetry collector that remembers what it was sent.
//!
//! Called by tests of the export. A real OTLP server on a real socket, over gRPC or HTTP, with TLS or without: only what it does with
//! the data is simpler.

mod grpc;
mod http;
mod received;
mod start;
mod state;

pub use received::{Line, Received, Span};
pub use state::Collector;
