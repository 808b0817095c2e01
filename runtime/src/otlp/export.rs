//! Starts the exporters, and sends the rest at the end.

use super::channel::{headers, open, resource};
use super::metrics::Pusher;
use super::span;
use crate::config::TelemetryConfig;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::{LogExporter, SpanExporter, WithTonicConfig};
use opentelemetry_sdk::logs::{SdkLogger, SdkLoggerProvider};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};
use std::sync::{Mutex, PoisonError};

/// What sends log lines: a layer of the subscriber.
pub(crate) type LogBridge = OpenTelemetryTracingBridge<SdkLoggerProvider, SdkLogger>;

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
        source: tonic::transport::Error,
    },
    /// Not a list of headers. The setting holds secrets, so it is not shown.
    #[error("`telemetry.otlp_headers` cannot be read; use name=value,name=value")]
    Headers,
    /// The exporters cannot be made.
    #[error("the OTLP exporters cannot be made")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
}

/// What must be sent before the process ends.
struct Running {
    logs: SdkLoggerProvider,
    metrics: Pusher,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

/// Starts exporting where an endpoint is set; the layer is for the subscriber. Needs a running tokio then.
pub(crate) fn start(role: &str, config: &TelemetryConfig) -> Result<Option<LogBridge>, OtlpError> {
    if config.otlp_endpoint.is_empty() {
        return Ok(None);
    }
    let (channel, metadata) = (open(&config.otlp_endpoint)?, headers(config)?);
    let resource = resource(role);
    let spans = SpanExporter::builder()
        .with_tonic()
        .with_channel(channel.clone())
        .with_metadata(metadata.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    let lines = LogExporter::builder()
        .with_tonic()
        .with_channel(channel.clone())
        .with_metadata(metadata.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    let mut processor = BatchSpanProcessor::builder(spans).build();
    processor.set_resource(&resource);
    span::install(processor);
    let logs = SdkLoggerProvider::builder()
        .with_resource(resource.clone())
        .with_batch_exporter(lines)
        .build();
    let bridge = OpenTelemetryTracingBridge::new(&logs);
    let metrics = Pusher::start(channel, metadata, &resource, config.otlp_metrics_interval);
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { logs, metrics });
    Ok(Some(bridge))
}

/// Sends what is left, once; a few seconds at most. Call it last, after everything has stopped.
pub async fn flush() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
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
