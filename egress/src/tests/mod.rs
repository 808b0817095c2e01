//! Exchanges on a network where every connection that is asked for is seen.
//!
//! Public addresses lead to a real server of the test; an inner one that was connected to would show in `asked`.

mod refused;
mod secret;

use super::exchange::{Answered, Rules, run};
use super::failure::Failure;
use super::network::Network;
use super::request::{Request, RequestError};
use super::tls::Tls;
use super::transcript::Transcript;
use super::turns::{Turn, Turns};
use super::waits::Waits;
use bytes::Bytes;
use domain::id::TenantId;
use domain::pool::PoolPolicy;
use domain::target::CheckedAddress;
use domain::task::{HttpMethod, SuccessRule};
use hyper::header::HeaderMap;
use hyper::{StatusCode, Version};
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use url::Url;

const PUBLIC: &str = "93.184.216.34";

#[derive(Default)]
struct Scripted {
    /// What a name means, from lookup to lookup; the last stays.
    names: HashMap<&'static str, Vec<Vec<&'static str>>>,
    lookups: AtomicUsize,
    /// Behind every address.
    server: Option<SocketAddr>,
    asked: Mutex<Vec<SocketAddr>>,
}

impl Scripted {
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(SocketAddr::to_string).collect()
    }
}

impl Network for Scripted {
    async fn turn(&self, tenant: TenantId) -> Turn {
        Turns::new(1, 1).turn(tenant).await
    }

    async fn resolve(&self, _turn: Turn, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let nth = self.lookups.fetch_add(1, Ordering::SeqCst);
        let turns = self.names.get(host).ok_or(io::ErrorKind::NotFound)?;
        let means = turns.get(nth).or_else(|| turns.last()).unwrap();
        Ok(means.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect())
    }

    async fn connect(&self, to: CheckedAddress) -> io::Result<TcpStream> {
        self.asked.lock().unwrap().push(to.get());
        TcpStream::connect(self.server.ok_or(io::ErrorKind::ConnectionRefused)?).await
    }
}

fn named(names: &[(&'static str, &[&[&'static str]])]) -> Scripted {
    let turns = |turns: &[&[&'static str]]| turns.iter().map(|ips| ips.to_vec()).collect();
    let names = names.iter().map(|(name, all)| (*name, turns(all))).collect();
    Scripted { names, ..Scripted::default() }
}

/// What a transcript hears: requests, and the body.
#[derive(Default)]
struct Heard {
    asked: Vec<String>,
    body: Vec<u8>,
}

impl Transcript for Heard {
    fn asked(&mut self, method: &str, url: &Url) {
        self.asked.push(format!("{method} {url}"));
    }

    fn answered(&mut self, _version: Version, _status: StatusCode, _headers: &HeaderMap) {}

    fn remark(&mut self, _text: &str) {}

    fn body(&mut self, data: &[u8]) {
        self.body.extend_from_slice(data);
    }
}

fn get(url: &str) -> Result<Request, RequestError> {
    Request::new(HttpMethod::Get, url, [], HeaderMap::new(), Bytes::new())
}

fn rules<'a>(private_targets: bool, success: &'a SuccessRule, waits: &'a Waits) -> Rules<'a> {
    Rules {
        tenant: TenantId::fresh(),
        policy: PoolPolicy { private_targets, ..PoolPolicy::default() }.into(),
        timeout: Duration::from_secs(10),
        success,
        body_limit: 2000,
        may_go_on: &|| true,
        waits,
    }
}

/// The answer to a GET, or why there is none.
async fn call<N: Network>(
    network: &Arc<N>,
    tls: Tls,
    url: &str,
    private_targets: bool,
) -> Result<Answered, String> {
    let request = get(url).map_err(|error| error.to_string())?;
    let (success, waits, mut heard) = (SuccessRule::default(), Waits::default(), Heard::default());
    let rules = rules(private_targets, &success, &waits);
    let answered = run(network.as_ref(), &tls, rules, request, &mut heard).await;
    answered.map_err(|failure: Failure| failure.to_string())
}

fn reason(end: Result<Answered, String>) -> String {
    end.unwrap_err()
}

/// Answers every connection with `answer`; counts them.
async fn serve(tasks: &TaskGroup, bind: &str, answer: String) -> (SocketAddr, Arc<AtomicUsize>) {
    serve_with(tasks, bind, answer, None).await
}

async fn serve_with(
    tasks: &TaskGroup,
    bind: &str,
    answer: String,
    tls: Option<TlsAcceptor>,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(bind).await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    tasks.spawn_detached("server", async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            match &tls {
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        speak(stream, &answer).await;
                    }
                }
                None => speak(stream, &answer).await,
            }
        }
    });
    (address, seen)
}

async fn speak(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    stream.write_all(answer.as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Go\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

const FINE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
