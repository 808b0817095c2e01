//! What each protocol makes from the settings, and why it cannot.

use super::metrics::Sender;
use crate::tls::TlsError;
use opentelemetry_otlp::{LogExporter, SpanExporter};
use std::error::Error;

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// Not an address.
    #[error(
        "`telemetry.otlp_endpoint` is \"{endpoint}\"; use an address such as http://localhost:4317"
    )]
    Endpoint {
        /// The setting.
        endpoint: String,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Not a list of headers. The setting holds secrets, so it is not shown.
    #[error("`telemetry.otlp_headers` cannot be read; use name=value,name=value")]
    Headers,
    /// A file with certificates that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The HTTP client cannot be made.
    #[error("the OTLP client cannot be made")]
    Client(#[source] reqwest::Error),
    /// The exporters cannot be made.
    #[error("the OTLP exporters cannot be made")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
}

/// What sends each kind of telemetry, over whatever carries it.
pub(super) struct Exporters {
    pub(super) spans: SpanExporter,
    pub(super) lines: LogExporter,
    pub(super) metrics: Sender,
}
