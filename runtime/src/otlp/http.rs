//! OTLP over HTTP: protobuf messages, posted to `/v1/traces`, `/v1/logs` and `/v1/metrics` below the endpoint.

use super::exporters::{Exporters, OtlpError};
use super::headers::headers;
use super::http_sender::HttpSender;
use super::metrics::Sender;
use crate::config::TelemetryConfig;
use crate::tls::Trust;
use opentelemetry_otlp::{LogExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::time::Duration;
use tokio::runtime::Handle;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Exporters over one client. Needs a running tokio.
pub(super) fn exporters(config: &TelemetryConfig) -> Result<Exporters, OtlpError> {
    let url = |signal: &str| {
        let endpoint = config.otlp_endpoint.as_str();
        let url = format!("{}/v1/{signal}", endpoint.trim_end_matches('/'));
        Url::parse(&url).map_err(|error| OtlpError::Endpoint {
            endpoint: endpoint.to_owned(),
            source: error.into(),
        })
    };
    let sender = HttpSender {
        client: client(config)?,
        runtime: Handle::current(),
        metrics: url("metrics")?,
    };
    let spans = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url("traces")?)
        .with_http_client(sender.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    let lines = LogExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url("logs")?)
        .with_http_client(sender.clone())
        .build()
        .map_err(OtlpError::Exporter)?;
    Ok(Exporters { spans, lines, metrics: Sender::Http(sender) })
}

fn client(config: &TelemetryConfig) -> Result<Client, OtlpError> {
    let mut all = HeaderMap::new();
    for (name, value) in headers(config)? {
        let name: HeaderName = name.parse().map_err(|_| OtlpError::Headers)?;
        let mut value: HeaderValue = value.parse().map_err(|_| OtlpError::Headers)?;
        value.set_sensitive(true);
        all.insert(name, value);
    }
    let tls = Trust::with(config.otlp_ca_file())?.client(None)?;
    let client = Client::builder()
        .default_headers(all)
        .timeout(TIMEOUT)
        // A header with a key goes to nobody else.
        .redirect(Policy::none())
        .tls_backend_preconfigured(tls);
    client.build().map_err(OtlpError::Client)
}
