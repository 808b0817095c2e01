//! One kept-alive HTTP/1.1 connection to an api process.

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, SET_COOKIE};
use hyper::http::request::Builder;
use hyper_util::rt::TokioIo;
use runtime::tasks::TaskGroup;
use tokio::net::TcpStream;

/// Where to send, and as whom.
#[derive(Debug, Clone)]
pub struct Target {
    address: String,
    host: HeaderValue,
    authorization: HeaderValue,
}

impl Target {
    /// From an api's base URL and a key.
    pub fn new(base_url: &str, key: &str) -> anyhow::Result<Self> {
        let address = base_url.strip_prefix("http://").context("an http:// URL")?.to_owned();
        let host = HeaderValue::from_str(&address)?;
        let authorization = HeaderValue::from_str(&format!("Bearer {key}"))?;
        Ok(Self { address, host, authorization })
    }
}

/// An open connection; one request at a time.
pub struct Connection {
    target: Target,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects.
    pub async fn open(target: &Target, tasks: &TaskGroup) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tasks.spawn_detached("bench-connection", async move {
            // Its end shows as an error of the request that is under way.
            let _ended = connection.await;
        });
        Ok(Self { target: target.clone(), sender })
    }

    /// Opens several.
    pub async fn open_many(
        target: &Target,
        tasks: &TaskGroup,
        count: usize,
    ) -> anyhow::Result<Vec<Self>> {
        let mut open = Vec::with_capacity(count);
        for _ in 0..count {
            open.push(Self::open(target, tasks).await?);
        }
        Ok(open)
    }

    /// Posts JSON; returns the body of the expected response. Any other response is an error, because it would be
    /// counted as work.
    pub async fn post(&mut self, path: &str, body: Bytes, expected: u16) -> anyhow::Result<Bytes> {
        self.call(Request::post(path), body, expected).await
    }

    /// Reads what must be there.
    pub async fn get(&mut self, path: &str) -> anyhow::Result<Bytes> {
        self.call(Request::get(path), Bytes::new(), 200).await
    }

    /// Sends a request without the key of the target; returns status, cookie and body of the response, whatever it is.
    pub(super) async fn exchange_with(
        &mut self,
        request: Builder,
        body: Bytes,
    ) -> anyhow::Result<(u16, Option<HeaderValue>, Bytes)> {
        let request = request.header(HOST, self.target.host.clone()).body(Full::new(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let (status, cookie) = (response.status().as_u16(), kept(response.headers()));
        Ok((status, cookie, response.into_body().collect().await?.to_bytes()))
    }

    async fn call(
        &mut self,
        request: Builder,
        body: Bytes,
        expected: u16,
    ) -> anyhow::Result<Bytes> {
        let request = request
            .header(HOST, self.target.host.clone())
            .header(AUTHORIZATION, self.target.authorization.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(Full::new(body))?;
        let path = request.uri().path().to_owned();
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status().as_u16();
        let answer = response.into_body().collect().await?.to_bytes();
        ensure!(
            status == expected,
            "{path} answered {status}: {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(answer)
    }
}

/// What a browser would keep: the last cookie of an answer, without its attributes.
fn kept(headers: &HeaderMap) -> Option<HeaderValue> {
    let set = headers.get_all(SET_COOKIE).iter().next_back()?.as_bytes();
    HeaderValue::from_bytes(set.split(|byte| *byte == b';').next()?).ok()
}
