//! A receiver of webhooks: a real HTTP server that writes down what it was sent and answers as it is told.

use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock;
use runtime::tasks::TaskGroup;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request that was received whole.
#[derive(Debug, Clone)]
pub struct Received {
    /// When its first byte came, by this machine's clock.
    pub at: Timestamp,
    /// Its path.
    pub path: String,
    /// Its headers; names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: Vec<u8>,
    /// What was answered.
    pub status: u16,
}

impl Received {
    /// Its body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// How it answers.
#[derive(Debug, Clone)]
pub struct Manner {
    /// Status of each answer; 0: none, the connection is closed.
    pub status: u16,
    /// Further lines of the head, each with its line end.
    pub head: String,
    /// How long it waits before it answers.
    pub wait: Duration,
}

impl Default for Manner {
    fn default() -> Self {
        Self { status: 200, head: String::new(), wait: Duration::ZERO }
    }
}

/// The server. It ends with its task group.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<Mutex<u64>>,
}

impl Receiver {
    /// Listens on a free port of this machine.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start(tasks: &TaskGroup) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Self {
            address: listener.local_addr()?,
            manner: Arc::default(),
            received: Arc::default(),
            connections: Arc::default(),
        };
        let (own, group) = (receiver.clone(), tasks.clone());
        tasks.spawn_detached("receiver", async move {
            while let Ok((stream, _)) = listener.accept().await {
                *own.connections.lock() += 1;
                let one = own.clone();
                group.spawn_detached("receiver_request", async move {
                    one.serve(stream).await.ok();
                });
            }
        });
        Ok(receiver)
    }

    /// Its URL with this path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers so from now on.
    pub fn answer(&self, manner: Manner) {
        *self.manner.lock() = manner;
    }

    /// What it has received so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    /// How many requests it has received so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.received.lock().len()
    }

    /// What it has answered with a status from 200 to 299.
    #[must_use]
    pub fn taken(&self) -> Vec<Received> {
        let all = self.received.lock();
        all.iter().filter(|one| (200..300).contains(&one.status)).cloned().collect()
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        *self.connections.lock()
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut bytes = vec![stream.read_u8().await?];
        let at = clock::wall();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let headers: BTreeMap<String, String> = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = bytes.split_off(end);
        while body.len() < length {
            if stream.read_buf(&mut body).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let manner = self.manner.lock().clone();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let status = manner.status;
        // Written down before it is answered: what was taken is in this ledger.
        self.received.lock().push(Received { at, path, headers, body, status });
        clock::sleep(manner.wait).await;
        if status == 0 {
            return Ok(());
        }
        let answer = format!(
            "HTTP/1.1 {status} Status\r\n{}Content-Length: 4\r\nConnection: close\r\n\r\ndone",
            manner.head
        );
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }
}
