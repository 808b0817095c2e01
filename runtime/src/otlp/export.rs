//! Starts the exporters, and sends the rest at the end.

use super::headers::resource;
use super::metrics::{Pusher, Sender};
use super::{grpc, http, span};
use crate::config::{OtlpProtocol, TelemetryConfig};
use crate::otlp::lines::{LogLayer, provider};
use crate::tls::TlsError;
use opentelemetry_otlp::{LogExporter, SpanExporter};
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};
use parking_lot::Mutex;
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

/// What must be sent before the process ends.
struct Running {
    logs: SdkLoggerProvider,
    metrics: Pusher,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

/// Starts exporting where an endpoint is set; the layer is for the subscriber. Needs a running tokio then.
pub(crate) fn start(role: &str, config: &TelemetryConfig) -> Result<Option<LogLayer>, OtlpError> {
    if config.otlp_endpoint.is_empty() {
        return Ok(None);
    }
    let exporters = match config.otlp_protocol {
        OtlpProtocol::Grpc => grpc::exporters(config)?,
        OtlpProtocol::Http => http::exporters(config)?,
    };
    let resource = resource(role);
    let mut processor = BatchSpanProcessor::builder(exporters.spans).build();
    processor.set_resource(&resource);
    span::install(processor);
    let logs = provider(resource.clone(), exporters.lines);
    let layer = LogLayer::new(&logs);
    let metrics = Pusher::start(exporters.metrics, &resource, config.otlp_metrics_interval);
    *RUNNING.lock() = Some(Running { logs, metrics });
    Ok(Some(layer))
}

/// Sends what is left, once; a few seconds at most. Call it last, after everything has stopped.
pub async fn flush() {
    let running = RUNNING.lock().take();
    let Some(running) = running else { return };
    running.metrics.push_last().await;
    // Both wait for threads of their own, which need this runtime to send.
    let sent = tokio::task::spawn_blocking(move || {
        span::shut_down();
        running.logs.shutdown()
    });
    if let Ok(Err(error)) = sent.await {
        tracing::debug!(%error, "The last log lines were not exported");
    }
}
