//! One request over one connection, and its answer.
//!
//! The connection is polled by whoever waits for the answer and closed when the answer is dropped. Of a body no more
//! is read than is kept: what lies beyond would only cost.

use super::failure::Failure;
use super::letter_case;
use super::request::Request;
use super::transcript::Transcript;
use bytes::Bytes;
use domain::task::{parse_http_date, parse_retry_after};
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Connection};
use hyper::header::{CONTENT_LENGTH, DATE, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::http::response;
use hyper_util::rt::TokioIo;
use runtime::clock;
use runtime::error_chain::ErrorChain;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use url::{Position, Url};

/// Most bytes of an answer's head.
const MAX_HEAD: usize = 64 * 1024;

/// An answer whose body was not read yet.
pub(super) struct Answer {
    pub(super) head: response::Parts,
    body: Incoming,
    line: Line,
}

type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The connection's own work. It has to go on while its answer is waited for.
struct Line {
    driver: Option<Driver>,
}

impl Line {
    fn new<S>(connection: Connection<TokioIo<S>, Full<Bytes>>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // How it ends is told by the answer.
        let driver = async move { connection.await.unwrap_or(()) };
        Self { driver: Some(Box::pin(driver)) }
    }

    async fn beside<F: Future>(&mut self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            if let Some(driver) = &mut self.driver
                && driver.as_mut().poll(context).is_ready()
            {
                self.driver = None;
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

/// Sends the request over `stream` and waits for the head of its answer.
pub(super) async fn ask<S>(stream: S, asked: &Request) -> Result<Answer, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |error: &dyn std::error::Error| Failure::Answer {
        host: asked.url.host_str().unwrap_or_default().to_owned(),
        error: ErrorChain(error).to_string(),
    };
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .title_case_headers(true)
        .preserve_header_case(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| failed(&error))?;
    let mut line = Line::new(connection);
    let mut request = request(asked).map_err(|error| failed(&error))?;
    letter_case::keep(&mut request, &asked.written).await;
    let response = line.beside(sender.send_request(request)).await;
    let response: Response<Incoming> = response.map_err(|error| failed(&error))?;
    let (head, body) = response.into_parts();
    Ok(Answer { head, body, line })
}

impl Answer {
    /// Reads the body up to `limit` bytes. A longer one is cut there, which is no failure.
    pub(super) async fn read_body<T: Transcript>(
        mut self,
        limit: u64,
        transcript: &mut T,
    ) -> Result<(), Failure> {
        let mut bytes = 0;
        while bytes < limit {
            let frame = tokio::select! {
                frame = self.line.beside(self.body.frame()) => frame,
                () = transcript.held() => continue,
            };
            let frame = match frame {
                None => return Ok(()),
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    let (status, error) =
                        (self.head.status.as_u16(), ErrorChain(&error).to_string());
                    return Err(Failure::Body { status, bytes, error });
                }
            };
            if let Ok(data) = frame.into_data() {
                let room = usize::try_from(limit - bytes).unwrap_or(usize::MAX);
                let kept = data.get(..room).unwrap_or(&data);
                transcript.body(kept);
                bytes += kept.len() as u64;
            }
        }
        transcript.remark(&format!("the body was read no further than {limit} bytes"));
        Ok(())
    }
}

fn request(asked: &Request) -> Result<hyper::Request<Full<Bytes>>, hyper::http::Error> {
    let path = &asked.url[Position::BeforePath..Position::AfterQuery];
    let mut request = hyper::Request::builder()
        .method(asked.method.as_str())
        .uri(path)
        .body(Full::new(asked.body.clone()))?;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::from_str(&host(&asked.url))?);
    headers.extend(asked.ours.clone());
    if asked.says_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    // The customer's own come last: they may say who asks and what is accepted.
    headers.extend(asked.given.clone());
    Ok(request)
}

/// Host and, unless it is the scheme's own, port.
fn host(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

/// A wait in seconds or until a date, as the answer's headers ask for it.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    // By the server's own clock, where it tells it.
    let now = text(DATE).and_then(parse_http_date).unwrap_or_else(clock::wall);
    parse_retry_after(text(RETRY_AFTER)?, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_by_the_servers_own_clock() {
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert("retry-after", HeaderValue::from_static("7"));
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(7)));
        let date = HeaderValue::from_static("Sun, 06 Nov 1994 08:50:37 GMT");
        headers.insert("retry-after", date);
        headers.insert("date", HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(60)));
    }
}
