//! OTLP over HTTP: protobuf messages, posted to `/v1/traces`, `/v1/logs` and `/v1/metrics` below the endpoint.

use super::export::{Exporters, OtlpError};
use super::headers::headers;
use super::metrics::Sender;
use crate::config::TelemetryConfig;
use crate::tls::Trust;
use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response, ResponseBodyTooLarge};
use opentelemetry_otlp::{LogExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::time::Duration;
use tokio::runtime::Handle;

const TIMEOUT: Duration = Duration::from_secs(10);
/// An answer says a few words.
const MOST_OF_ANSWER: usize = 1 << 20;

/// Sends what the exporters have, from their own threads, by the tokio in which it was made.
#[derive(Debug, Clone)]
pub(super) struct HttpSender {
    client: Client,
    runtime: Handle,
    metrics: Url,
}

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

impl HttpSender {
    /// Posts metrics.
    pub(super) async fn push(
        &self,
        request: &ExportMetricsServiceRequest,
    ) -> Result<(), HttpError> {
        let body = request.encode_to_vec();
        let request = self
            .client
            .post(self.metrics.clone())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .body(body);
        request.send().await?.error_for_status()?;
        Ok(())
    }
}

#[tonic::async_trait]
impl HttpClient for HttpSender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, request) = (self.client.clone(), reqwest::Request::try_from(request)?);
        self.runtime.spawn(exchange(client, request)).await?
    }
}

async fn exchange(client: Client, request: reqwest::Request) -> Result<Response<Bytes>, HttpError> {
    let mut answer = client.execute(request).await?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > MOST_OF_ANSWER {
            return Err(ResponseBodyTooLarge::new().into());
        }
        body.extend_from_slice(&piece);
    }
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        *headers = answer.headers().clone();
    }
    Ok(response.body(body.into())?)
}
