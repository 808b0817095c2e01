//! Sends a request, with retries, and reads the response.
//!
//! Every call uses `Call`. Reads can be repeated, and so can writes, because they have an idempotency key or put a named object in
//! place. So every retryable failure (no connection, a broken one, 429, 503) is retried within the policy. The few writes of operators
//! that create something and take no key are repeated only where it is certain that they were not done.

use crate::builder::Client;
use crate::error::{ApiError, ClientError};
use crate::idempotency::IdempotencyKey;
use crate::response::ApiResponse;
use crate::retry::RetryPolicy;
use api_types::Cursor;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH, IF_NONE_MATCH, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use std::time::Duration;

const REPLAYED: &str = "idempotency-replayed";
const NEXT_CURSOR: &str = "next-cursor";
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// One request. The same bytes go out in each try: the server compares them.
pub(crate) struct Call {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    key: Option<IdempotencyKey>,
    if_version: Option<i64>,
    /// Done twice it does two things, so it is not sent again where it may have been done.
    once: bool,
    body: Option<Bytes>,
}

/// A success, as it came.
struct Received {
    body: Bytes,
    replayed: bool,
    next: Option<Cursor>,
}

/// Why one try failed.
pub(crate) enum Failed {
    Transport(reqwest::Error),
    Refused(Box<ApiError>),
}

impl Call {
    /// A read of `path`, which is relative to the server.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            query: Vec::new(),
            key: None,
            if_version: None,
            once: false,
            body: None,
        }
    }

    /// A write, named by `key`.
    pub fn post(path: impl Into<String>, key: IdempotencyKey) -> Self {
        Self { method: Method::POST, key: Some(key), ..Self::get(path) }
    }

    /// A write without a key: operators have none. It is sent again only where the server did not get it or refused it.
    pub fn post_once(path: impl Into<String>) -> Self {
        Self { method: Method::POST, once: true, ..Self::get(path) }
    }

    /// A write without a key that may be repeated: doing it again changes nothing more.
    pub fn post_repeatable(path: impl Into<String>) -> Self {
        Self { method: Method::POST, ..Self::get(path) }
    }

    /// Changes parts of the thing at `path`. Doing it again changes nothing more.
    pub fn patch(path: impl Into<String>) -> Self {
        Self { method: Method::PATCH, ..Self::get(path) }
    }

    /// Stores the thing at `path`. Doing it again changes nothing more.
    pub fn put(path: impl Into<String>) -> Self {
        Self { method: Method::PUT, ..Self::get(path) }
    }

    /// Ends the thing at `path`. Doing it again does no harm.
    pub fn delete(path: impl Into<String>) -> Self {
        Self { method: Method::DELETE, ..Self::get(path) }
    }

    /// Adds parameters that have a value.
    pub fn query(
        mut self,
        parameters: impl IntoIterator<Item = (&'static str, Option<String>)>,
    ) -> Self {
        self.query.extend(
            parameters.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))),
        );
        self
    }

    /// Only where the thing is in this version, if one is given; 0: only where there is none.
    pub fn if_version(mut self, version: Option<i64>) -> Self {
        self.if_version = version;
        self
    }

    /// With a body that is JSON already.
    pub fn json(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }
}

impl Client {
    /// Sends `call` and parses the response as `T`.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        call: Call,
    ) -> Result<ApiResponse<T>, ClientError> {
        let received = self.receive(call).await?;
        let value = serde_json::from_slice(&received.body).map_err(|source| {
            ClientError::UnexpectedResponse { server: self.server().to_owned(), source }
        })?;
        Ok(ApiResponse::new(value, received.body, received.replayed))
    }

    /// Sends `call` and gives the body of the response as it is.
    pub(crate) async fn fetch(&self, call: Call) -> Result<Bytes, ClientError> {
        Ok(self.receive(call).await?.body)
    }

    /// The same, with the cursor in the response's headers.
    pub(crate) async fn fetch_page(
        &self,
        call: Call,
    ) -> Result<(Bytes, Option<Cursor>), ClientError> {
        let received = self.receive(call).await?;
        Ok((received.body, received.next))
    }

    async fn receive(&self, call: Call) -> Result<Received, ClientError> {
        let mut tried = 1;
        loop {
            let failed = match self.send_once(&call).await {
                Ok(received) => return Ok(received),
                Err(failed) => failed,
            };
            let again = !call.once || failed.is_not_done();
            match failed.wait(&self.retry, tried).filter(|_| again) {
                Some(wait) => pause(wait).await,
                None => return Err(failed.into_error(self.server(), tried)),
            }
            tried += 1;
        }
    }

    /// A request that can be sent.
    pub(crate) fn request(&self, call: &Call) -> RequestBuilder {
        let mut url = (*self.base).clone();
        url.set_path(&format!("{}{}", url.path(), call.path));
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = self.http.request(call.method.clone(), url);
        if let Some(key) = &call.key {
            request = request.header(IDEMPOTENCY_KEY, key.as_str());
        }
        request = match call.if_version {
            None => request,
            Some(0) => request.header(IF_NONE_MATCH, "*"),
            Some(version) => request.header(IF_MATCH, format!("\"{version}\"")),
        };
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        request
    }

    /// Sends a request; gives a successful response's head, with its body still to come.
    pub(crate) async fn open(&self, request: RequestBuilder) -> Result<Response, Failed> {
        let response = request.send().await.map_err(Failed::Transport)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await.map_err(Failed::Transport)?;
        Err(Failed::Refused(Box::new(ApiError::read(status, &body, retry_after(&headers)))))
    }

    async fn send_once(&self, call: &Call) -> Result<Received, Failed> {
        let mut request = self.request(call);
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let response = self.open(request).await?;
        let replayed = response.headers().get(REPLAYED).is_some_and(|value| value == "true");
        let next = response.headers().get(NEXT_CURSOR).and_then(|value| value.to_str().ok());
        let next = next.map(|text| Cursor::from(text.to_owned()));
        let body = response.bytes().await.map_err(Failed::Transport)?;
        Ok(Received { body, replayed, next })
    }

    /// The response is not from the API; `what` is the reason.
    pub(crate) fn not_the_api(&self, what: &str) -> ClientError {
        let source = <serde_json::Error as serde::de::Error>::custom(what);
        ClientError::UnexpectedResponse { server: self.server().to_owned(), source }
    }
}

impl Failed {
    /// `Some` if a retry may help, with the `Retry-After` of the server.
    fn repeat_after(&self) -> Option<Option<Duration>> {
        match self {
            // A request that cannot even be built never will be.
            Self::Transport(error) => (!error.is_builder()).then_some(None),
            Self::Refused(error) => {
                let requested = matches!(error.status, 429 | 502 | 503 | 504) || error.retryable;
                requested.then_some(error.retry_after)
            }
        }
    }

    /// Whether the server certainly did nothing: it was not reached, or turned the request away at its door.
    fn is_not_done(&self) -> bool {
        match self {
            Self::Transport(error) => error.is_connect(),
            Self::Refused(error) => error.status == 429,
        }
    }

    /// How long to wait before the next try; `None` when there should be none.
    pub(crate) fn wait(&self, policy: &RetryPolicy, tried: u32) -> Option<Duration> {
        self.repeat_after().and_then(|requested| policy.wait(tried, requested, rand::random()))
    }

    pub(crate) fn into_error(self, server: &str, tries: u32) -> ClientError {
        match self {
            Self::Transport(source) => ClientError::Unreachable {
                server: server.to_owned(),
                tries,
                source: source.without_url(),
            },
            Self::Refused(error) => ClientError::Api(error),
        }
    }
}

/// Seconds; the other form of the header, a date, would need this machine's clock to be right.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a client is used outside Berth's processes and has none of their runtime"
)]
pub(crate) async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}

/// A body of `value`.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<Bytes, ClientError> {
    let json = serde_json::to_vec(value).map_err(|error| {
        ClientError::Settings(format!("the task cannot be written as JSON: {error}"))
    })?;
    Ok(Bytes::from(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::StatusCode;

    #[test]
    fn only_whole_seconds_are_taken_from_retry_after() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            retry_after(&headers)
        };
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("Wed, 21 Oct 2015 07:28:00 GMT"), None);
    }

    #[test]
    fn a_mistake_is_not_repeated_and_too_much_load_is() {
        let repeated = |status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            Failed::Refused(Box::new(ApiError::read(status, b"{}", None))).repeat_after().is_some()
        };
        let outcome = [400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504].map(repeated);
        assert_eq!(
            outcome,
            [false, false, false, false, false, false, true, false, true, true, true]
        );
    }
}
