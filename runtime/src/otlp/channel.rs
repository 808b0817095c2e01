//! The way to the collector, and what every message says of its sender.

use super::export::OtlpError;
use crate::config::TelemetryConfig;
use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;
use secrecy::ExposeSecret;
use std::time::Duration;
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Connects when first used, so that a collector may come later than we do. Needs a running tokio.
pub(super) fn open(endpoint: &str) -> Result<Channel, OtlpError> {
    let refused = |source| OtlpError::Endpoint { endpoint: endpoint.to_owned(), source };
    let mut way = Endpoint::from_shared(endpoint.to_owned())
        .map_err(refused)?
        .timeout(TIMEOUT)
        .connect_timeout(TIMEOUT);
    if endpoint.starts_with("https:") {
        way = way.tls_config(ClientTlsConfig::new().with_webpki_roots()).map_err(refused)?;
    }
    Ok(way.connect_lazy())
}

/// `name=value,name=value`, as in OTEL_EXPORTER_OTLP_HEADERS.
pub(super) fn headers(config: &TelemetryConfig) -> Result<MetadataMap, OtlpError> {
    let mut headers = MetadataMap::new();
    let text = config.otlp_headers.expose_secret();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(OtlpError::Headers)?;
        let name: AsciiMetadataKey =
            name.trim().to_lowercase().parse().map_err(|_| OtlpError::Headers)?;
        let mut value: AsciiMetadataValue = value.trim().parse().map_err(|_| OtlpError::Headers)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
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
