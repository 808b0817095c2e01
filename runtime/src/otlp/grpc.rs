//! OTLP over gRPC.

use super::exporters::{Exporters, OtlpError};
use super::headers::headers;
use super::metrics::Sender;
use crate::config::TelemetryConfig;
use crate::tls::Trust;
use opentelemetry_otlp::{LogExporter, Protocol, SpanExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use std::time::Duration;
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Exporters over one channel, which connects when first used, so that a collector may come later than we do. Needs a running tokio.
pub(super) fn exporters(config: &TelemetryConfig) -> Result<Exporters, OtlpError> {
    let (channel, metadata) = (open(config)?, metadata(config)?);
    let spans = SpanExporter::builder()
        .with_tonic()
        .with_protocol(Protocol::Grpc)
        .with_channel(channel.clone())
        .with_metadata(metadata.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    let lines = LogExporter::builder()
        .with_tonic()
        .with_protocol(Protocol::Grpc)
        .with_channel(channel.clone())
        .with_metadata(metadata.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    let metrics = Sender::Grpc(Box::new(MetricsServiceClient::new(channel)), metadata);
    Ok(Exporters { spans, lines, metrics })
}

fn open(config: &TelemetryConfig) -> Result<Channel, OtlpError> {
    let endpoint = config.otlp_endpoint.as_str();
    let refused = |source| OtlpError::Endpoint { endpoint: endpoint.to_owned(), source };
    let mut way = Endpoint::from_shared(endpoint.to_owned())
        .map_err(|error| refused(error.into()))?
        .timeout(TIMEOUT)
        .connect_timeout(TIMEOUT);
    let trust = Trust::with(config.otlp_ca_file())?;
    if endpoint.starts_with("https:") {
        let tls = ClientTlsConfig::new().trust_anchors(trust.roots().roots.iter().cloned());
        way = way.tls_config(tls).map_err(|error| refused(error.into()))?;
    }
    Ok(way.connect_lazy())
}

fn metadata(config: &TelemetryConfig) -> Result<MetadataMap, OtlpError> {
    let mut metadata = MetadataMap::new();
    for (name, value) in headers(config)? {
        let name: AsciiMetadataKey = name.parse().map_err(|_| OtlpError::Headers)?;
        let mut value: AsciiMetadataValue = value.parse().map_err(|_| OtlpError::Headers)?;
        value.set_sensitive(true);
        metadata.insert(name, value);
    }
    Ok(metadata)
}
