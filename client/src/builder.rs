//! The client and its builder.
//!
//! Clones share connections. The builder installs the TLS provider, once for the process.

use crate::error::ClientError;
use crate::retry::RetryPolicy;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect;
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};

/// A client of one server with one key. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Arc<Url>,
    pub(crate) retry: RetryPolicy,
}

/// Settings of a client.
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    server: String,
    api_key: Option<SecretString>,
    retry: RetryPolicy,
    connect_timeout: Duration,
    timeout: Duration,
}

impl Client {
    /// The same client with another retry policy.
    #[must_use]
    pub const fn with_retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// A builder for the server at `server`, such as `https://berth.example.com`.
    pub fn builder(server: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            server: server.into(),
            api_key: None,
            retry: RetryPolicy::default(),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(60),
        }
    }

    /// The server's URL, without user and password.
    #[must_use]
    pub fn server(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }
}

impl ClientBuilder {
    /// The API key. Without it all calls except probes are refused.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<SecretString>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Retry policy.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Longest wait for a connection. Default 5 s.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Time limit of an attempt, from connect to the last byte of the response. Default 60 s.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Builds the client, without a connection.
    ///
    /// # Errors
    /// [`ClientError::Settings`] when the URL or the key is invalid.
    pub fn build(self) -> Result<Client, ClientError> {
        // Another part of the process may have installed one, which is then used.
        let _already = rustls::crypto::ring::default_provider().install_default();
        let base = base(&self.server)?;
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("berth-client/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(self.api_key.as_ref())?)
            // A redirect could send a write twice, or the key to another server.
            .redirect(redirect::Policy::none())
            .tcp_nodelay(true)
            .connect_timeout(self.connect_timeout)
            .timeout(self.timeout);
        if base.scheme() == "http" {
            // Plain HTTP verifies nothing, so no certificates are needed.
            http = http.tls_certs_only([]);
        }
        if is_this_machine(&base) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| {
            ClientError::Settings(format!("the HTTP client cannot be made: {}", causes(&error)))
        })?;
        Ok(Client { http, base: Arc::new(base), retry: self.retry })
    }
}

fn base(server: &str) -> Result<Url, ClientError> {
    let refused = || {
        ClientError::Settings(
            "the server must be a URL such as https://berth.example.com or http://127.0.0.1:8080"
                .to_owned(),
        )
    };
    let mut base = Url::parse(server).map_err(|_| refused())?;
    let plain = base.username().is_empty()
        && base.password().is_none()
        && base.query().is_none()
        && base.fragment().is_none();
    if !matches!(base.scheme(), "http" | "https") || !base.has_host() || !plain {
        return Err(refused());
    }
    // A trailing slash makes the path a base for paths of the API.
    if !base.path().ends_with('/') {
        let folder = format!("{}/", base.path());
        base.set_path(&folder);
    }
    Ok(base)
}

fn headers(api_key: Option<&SecretString>) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = api_key {
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", key.expose_secret().trim()))
            .map_err(|_| {
                ClientError::Settings("the API key holds characters that no key has".to_owned())
            })?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}

fn is_this_machine(base: &Url) -> bool {
    match base.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_be_a_server_is_refused_without_quoting_it() {
        for bad in [
            "",
            "127.0.0.1:8080",
            "ftp://a",
            "http://",
            "http://u:hunter2@a",
            "http://a/?key=hunter2",
        ] {
            let error = Client::builder(bad).build().unwrap_err().to_string();
            assert!(
                error.contains("must be a URL") && !error.contains("hunter2"),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn a_server_may_live_under_a_path() {
        let client = Client::builder("https://example.com/berth").build().unwrap();
        assert_eq!(
            client.base.join("v1/tasks").unwrap().as_str(),
            "https://example.com/berth/v1/tasks"
        );
        assert_eq!(client.server(), "https://example.com/berth");
    }

    #[test]
    fn neither_key_nor_header_shows_in_debug() {
        let builder = Client::builder("http://127.0.0.1:1").api_key("berth_live_hunter2");
        let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn a_key_that_no_header_can_hold_is_refused_without_quoting_it() {
        let error = Client::builder("http://a").api_key("hunter2\nx").build().unwrap_err();
        assert!(matches!(&error, ClientError::Settings(text) if !text.contains("hunter2")));
    }
}
