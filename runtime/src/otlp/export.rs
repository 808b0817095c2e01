//! Starts the exporters, and sends the rest at the end.

use super::exporters::OtlpError;
use super::headers::resource;
use super::metrics::Pusher;
use super::{grpc, http, span};
use crate::config::{OtlpProtocol, TelemetryConfig};
use crate::otlp::lines::{LogLayer, provider};
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};
use parking_lot::Mutex;

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
