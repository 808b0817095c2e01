//! A server to be called: says what it is told, byte for byte, and remembers what it hears.

use crate::host::until;
use crate::rm::LIMIT;
use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does with a connection once it has heard a request: its bytes, and whether it stays open after them.
#[derive(Clone)]
pub enum Says {
    /// These bytes, then the end.
    Then(String),
    /// These bytes, then silence for as long as the other side stays.
    Waits(String),
    /// These bytes, then others without end.
    Floods(String),
}

#[derive(Clone)]
pub struct Called {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    /// Connections that the other side has closed while we waited or flooded.
    closed: Arc<Mutex<usize>>,
    _tasks: TaskGroup,
}

impl Called {
    /// `says` has the path of the request and how many came before it.
    pub async fn start(says: impl Fn(&str, usize) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let called = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            closed: Arc::default(),
            _tasks: TaskGroup::new(),
        };
        let (server, says) = (called.clone(), Arc::new(says));
        called._tasks.spawn_detached("called", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (one, says) = (server.clone(), Arc::clone(&says));
                server._tasks.spawn_detached("called_one", async move {
                    one.serve(stream, says.as_ref()).await;
                });
            }
        });
        called
    }

    async fn serve(&self, mut stream: TcpStream, says: &(impl Fn(&str, usize) -> Says + Sync)) {
        let Some(request) = hear(&mut stream).await else { return };
        let path = request.split(' ').nth(1).unwrap().to_owned();
        let before = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        match says(&path, before) {
            Says::Then(text) => {
                stream.write_all(text.as_bytes()).await.ok();
                stream.shutdown().await.ok();
            }
            Says::Waits(text) => {
                stream.write_all(text.as_bytes()).await.ok();
                stream.read_u8().await.ok();
                *self.closed.lock().unwrap() += 1;
            }
            Says::Floods(text) => {
                stream.write_all(text.as_bytes()).await.ok();
                while stream.write_all(&[b'x'; 64 * 1024]).await.is_ok() {}
                *self.closed.lock().unwrap() += 1;
            }
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub async fn heard(&self, count: usize) {
        until("a request", LIMIT, || self.requests().len() >= count).await;
    }

    /// Waits until the other side has closed so many connections.
    pub async fn left(&self, count: usize) {
        until("it is left", LIMIT, || *self.closed.lock().unwrap() >= count).await;
    }
}

/// A whole request: its head and as much body as it announces.
async fn hear(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.to_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}

pub fn ok(body: &str) -> Says {
    answer("200 OK", "", body)
}

/// An answer with further header lines, each ended with `\r\n`.
pub fn answer(status: &str, headers: &str, body: &str) -> Says {
    Says::Then(format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

pub fn get(url: &str) -> String {
    http(serde_json::json!({"method": "GET", "url": url}))
}

pub fn http(run: serde_json::Value) -> String {
    serde_json::json!({ "http": run }).to_string()
}
