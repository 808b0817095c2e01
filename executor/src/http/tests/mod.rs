//! Attempts on a network where every connection that is asked for is seen.
//!
//! Public addresses lead to a real server of the test; an inner one that was connected to would show in `asked`.

mod refused;
mod secret;

use super::attempt::{Assigned, run};
use super::end::HttpEnd;
use super::network::Network;
use super::tls::Tls;
use super::turns::{Turn, Turns};
use crate::output::{AttemptOutput, OutputLimits};
use domain::id::{TaskId, TenantId};
use domain::pool::PoolPolicy;
use domain::target::CheckedAddress;
use domain::task::HttpRun;
use protocol::LeaseKey;
use runtime::clock;
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

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

async fn call<N: Network>(network: &Arc<N>, tls: Tls, url: &str, private_targets: bool) -> HttpEnd {
    let lease = LeaseKey { tenant: TenantId::fresh(), task: TaskId::fresh(), attempt: 1 };
    let run_json = serde_json::json!({"method": "GET", "url": url, "timeout": "10s"});
    let run_json: HttpRun = serde_json::from_value(run_json).unwrap();
    let limits = OutputLimits { head: 1000, tail: 1000 };
    let (_sender, lease_until) = watch::channel(u64::MAX);
    run(Assigned {
        lease,
        run: run_json,
        traceparent: String::new(),
        due: crate::due::Due::default(),
        policy: PoolPolicy { private_targets, ..PoolPolicy::default() }.into(),
        cap_until: clock::monotonic() + Duration::from_secs(20),
        network: Arc::clone(network),
        tls: Arc::new(tls),
        body_limit: 2000,
        output: Arc::new(AttemptOutput::new(lease, limits)),
        queue: Arc::default(),
        stop: Arc::new(Notify::new()),
        lease_until,
    })
    .await
    .0
}

fn reason(end: HttpEnd) -> String {
    match end {
        HttpEnd::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
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
