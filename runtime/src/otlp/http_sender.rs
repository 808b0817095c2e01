//! Sends one message over HTTP.

use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response, ResponseBodyTooLarge};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use tokio::runtime::Handle;

/// Most bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// Sends what the exporters have, from their own threads, by the tokio in which it was made.
#[derive(Debug, Clone)]
pub(super) struct HttpSender {
    pub(super) client: Client,
    pub(super) runtime: Handle,
    pub(super) metrics: Url,
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
        if body.len() + piece.len() > MAX_RESPONSE_BYTES {
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
