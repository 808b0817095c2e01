//! `telemetry.otlp_headers`, and what every message says of its sender.

use super::exporters::OtlpError;
use crate::config::TelemetryConfig;
use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;
use secrecy::ExposeSecret;

/// `name=value,name=value`, as in OTEL_EXPORTER_OTLP_HEADERS. Names in lower case.
pub(super) fn headers(config: &TelemetryConfig) -> Result<Vec<(String, String)>, OtlpError> {
    let text = config.otlp_headers.expose_secret();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let read = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or(OtlpError::Headers)?;
        Ok((name.trim().to_lowercase(), value.trim().to_owned()))
    };
    pairs.map(read).collect()
}

/// Who we are: service `berth-<role>`, and this process among others of the kind.
pub(super) fn resource(role: &str) -> Resource {
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", format!("berth-{role}")),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", domain::id::NodeId::fresh().uuid().to_string()),
            KeyValue::new("process.pid", i64::from(std::process::id())),
        ])
        .build()
}
