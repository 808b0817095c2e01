//! A bare HTTP/1.1 client: one connection a request, any bytes, whole answers.
//!
//! Written by hand because half of what is tested here is what a proper client refuses to send.

use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer, body complete.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The thing itself as it is read later, without what whoever stored it is warned of: no executor is there.
    pub fn kept(&self) -> Value {
        let mut json = self.json();
        json.as_object_mut().expect("an object").remove("warnings");
        json
    }

    /// The problem's code; fails where the answer is none.
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let json = self.json();
        assert_eq!(json["status"], self.status);
        for field in ["type", "title", "detail", "code", "request_id"] {
            assert!(json[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {json}");
        }
        assert!(json["retryable"].is_boolean());
        json["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Pointers of the problem's places.
    pub fn pointers(&self) -> Vec<String> {
        let json = self.json();
        let errors = json["errors"].as_array().cloned().unwrap_or_default();
        errors
            .iter()
            .map(|error| error["pointer"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// Sends `head` and `body` as they are.
pub async fn send(addr: SocketAddr, head: &str, body: &[u8]) -> Answer {
    let exchange = async {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        // A server that has refused may close before all is written; its answer is still there to read.
        let _sent = stream.write_all(&[head.as_bytes(), body].concat()).await;
        let mut bytes = Vec::new();
        let _read = stream.read_to_end(&mut bytes).await;
        parse(&bytes)
    };
    tokio::time::timeout(Duration::from_secs(60), exchange)
        .await
        .expect("an answer within a minute")
}

/// Sends a request with these headers and a length.
pub async fn request(
    addr: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: berth\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() || method == "POST" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    send(addr, &head, body).await
}

pub fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or_else(|| {
        panic!("no answer but {:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(200)]))
    });
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: bytes[end + 4..].to_vec() };
    // What answers HEAD says how its body would come, and has none.
    if answer.header("transfer-encoding") == Some("chunked") && !answer.body.is_empty() {
        answer.body = unchunk(&answer.body);
    }
    answer
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let line = bytes.windows(2).position(|w| w == b"\r\n").expect("a chunk's length");
        let length =
            usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap(), 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.extend_from_slice(&bytes[line + 2..line + 2 + length]);
        bytes = &bytes[line + 4 + length..];
    }
}
