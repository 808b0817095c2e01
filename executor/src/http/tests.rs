//! What is never connected to, however it is asked for: on a network where every connection that is asked for is seen.
//!
//! Public addresses lead to a real server of the test; an inner one that was connected to would show in `asked`, and
//! at the listener that stands on every address of this machine.

use super::attempt::{Assigned, HttpEnd, run};
use super::network::{Direct, Network};
use super::tls::Tls;
use crate::output::{AttemptOutput, OutputLimits, OutputQueue};
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
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

const PUBLIC: &str = "93.184.216.34";

/// Hosts that lead inside, as they may be written.
const INNER: [&str; 31] = [
    "127.0.0.1",
    "127.255.255.254",
    "127.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[::]",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "[fd00::1]",
    "[fe80::1]",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "2130706433",
    "0177.0.0.1",
    "017700000001",
    "0x7f000001",
    "0x7f.1",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "0xa9fea9fe",
];

/// What is no web URL at all.
const ODD: [&str; 8] = [
    "file:///etc/passwd",
    "ftp://93.184.216.34/",
    "gopher://93.184.216.34:6379/_INFO",
    "http+unix://%2Frun%2Fdocker.sock/info",
    "unix:///run/docker.sock",
    "http://user@93.184.216.34/",
    "http://93.184.216.34:word@127.0.0.1/",
    "data:text/plain,x",
];

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
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
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

#[tokio::test]
async fn an_inner_host_is_never_connected_to_however_it_is_written() {
    let tasks = TaskGroup::new();
    // On every address of this machine, of both families where it has both.
    let bind = if TcpListener::bind("[::]:0").await.is_ok() { "[::]:0" } else { "0.0.0.0:0" };
    let (listener, seen) = serve(&tasks, bind, FINE.to_owned()).await;
    let (scripted, direct) = (Arc::new(Scripted::default()), Arc::new(Direct::default()));
    for host in INNER {
        for url in [format!("http://{host}:{}/", listener.port()), format!("https://{host}/")] {
            let why = reason(call(&scripted, Tls::default(), &url, false).await);
            assert!(why.contains("was refused: its address is "), "{url}: {why}");
            assert_eq!(reason(call(&direct, Tls::default(), &url, false).await), why, "{url}");
        }
    }
    // The system may or may not know a name with the root's dot.
    let dotted = format!("http://localhost.:{}/", listener.port());
    reason(call(&direct, Tls::default(), &dotted, false).await);
    for host in ["localhost", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ"] {
        let url = format!("http://{host}:{}/", listener.port());
        let why = reason(call(&direct, Tls::default(), &url, false).await);
        assert!(why.contains("was refused: its address is loopback"), "{url}: {why}");
    }
    for url in ODD {
        let why = reason(call(&direct, Tls::default(), url, false).await);
        assert!(why.starts_with("could not be started: its URL must "), "{url}: {why}");
        reason(call(&scripted, Tls::default(), url, true).await);
    }
    assert_eq!((scripted.asked(), seen.load(Ordering::SeqCst)), (vec![], 0));
    // The listener does listen: a pool that allows private targets reaches it.
    let url = format!("http://127.0.0.1:{}/", listener.port());
    let open = call(&direct, Tls::default(), &url, true).await;
    assert!(matches!(open, HttpEnd::Answered { succeeded: true, .. }), "{open:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_is_judged_by_each_of_its_addresses() {
    for ip in ["127.0.0.1", "::1", "::ffff:10.0.0.1", "169.254.169.254", "fd00::1", "100.64.0.1"] {
        let network = Arc::new(named(&[("a.example", &[&[ip]])]));
        let why = reason(call(&network, Tls::default(), "http://a.example/", false).await);
        assert!(why.starts_with("a.example was refused: its address is "), "{why}");
        // A name of an inner network keeps its address to itself.
        assert!(!why.contains(ip), "{why}");
        assert_eq!(network.asked(), [""; 0]);
    }
    let network = Arc::new(named(&[("a.example", &[&["10.0.0.1", PUBLIC, "::1"]])]));
    reason(call(&network, Tls::default(), "http://a.example/", false).await);
    assert_eq!(network.asked(), [format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn a_name_that_changes_its_meaning_is_checked_again_at_each_hop_and_attempt() {
    let tasks = TaskGroup::new();
    let back = redirect(302, "http://rebind.example/again");
    let (server, _) = serve(&tasks, "127.0.0.1:0", back).await;
    let mut network = named(&[("rebind.example", &[&[PUBLIC], &["127.0.0.1"]])]);
    network.server = Some(server);
    let network = Arc::new(network);
    for attempt in 1..=3 {
        let why = reason(call(&network, Tls::default(), "http://rebind.example/", false).await);
        assert_eq!(
            why,
            "rebind.example was refused: its address is loopback; HTTP tasks of this pool reach public addresses only",
            "attempt {attempt}"
        );
    }
    // One lookup a hop: what was checked is what was connected to.
    assert_eq!(network.asked(), [format!("{PUBLIC}:80")]);
    assert_eq!(network.lookups.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn no_redirect_leads_inside_or_to_another_scheme() {
    let tasks = TaskGroup::new();
    let inner = INNER.iter().map(|host| format!("http://{host}/"));
    let all: Vec<String> = inner
        .chain(INNER.iter().map(|host| format!("//{host}/")))
        .chain(ODD.iter().map(|url| (*url).to_owned()))
        .chain(["http://inner.example/".to_owned()])
        .collect();
    for (nth, to) in all.iter().enumerate() {
        let status = [301, 302, 303, 307, 308][nth % 5];
        let (server, seen) = serve(&tasks, "127.0.0.1:0", redirect(status, to)).await;
        let mut network = named(&[("inner.example", &[&["10.0.0.1"]])]);
        network.server = Some(server);
        let network = Arc::new(network);
        let url = format!("http://{PUBLIC}/");
        let end = call(&network, Tls::default(), &url, false).await;
        let why = reason(end);
        assert!(why.contains("refused"), "{to}: {why}");
        assert_eq!(network.asked(), [format!("{PUBLIC}:80")], "{to}");
        assert_eq!(seen.load(Ordering::SeqCst), 1, "{to}");
    }
}

#[tokio::test]
async fn ports_of_other_services_are_closed_even_where_the_address_is_public() {
    let network = Arc::new(Scripted::default());
    for port in [22, 25, 5432, 5672, 6379] {
        let url = format!("http://{PUBLIC}:{port}/");
        let why = reason(call(&network, Tls::default(), &url, false).await);
        assert!(why.contains(&format!("port {port} is for ")), "{why}");
    }
    assert_eq!(network.asked(), [""; 0]);
}

/// A certificate for `name`, and who trusts it.
fn certified(name: &str) -> (TlsAcceptor, ClientConfig) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let provider = || Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let key =
        tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let server = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), client)
}

#[tokio::test]
async fn https_is_verified_and_is_never_left_for_http() {
    let tasks = TaskGroup::new();
    let (acceptor, client) = certified("a.example");
    let trusting = || Tls::trusting(client.clone());
    let serve = |answer: String| serve_with(&tasks, "127.0.0.1:0", answer, Some(acceptor.clone()));
    let network = |server| {
        let names: [(_, &[&[_]]); 2] = [("a.example", &[&[PUBLIC]]), ("b.example", &[&[PUBLIC]])];
        Arc::new(Scripted { server: Some(server), ..named(&names) })
    };
    let (server, _) = serve(FINE.to_owned()).await;
    for url in ["https://a.example/", "https://a.example./"] {
        let mut all = network(server);
        Arc::get_mut(&mut all).unwrap().names.insert("a.example.", vec![vec![PUBLIC]]);
        let end = call(&all, trusting(), url, false).await;
        assert!(matches!(end, HttpEnd::Answered { succeeded: true, .. }), "{url}: {end:?}");
    }
    let why = reason(call(&network(server), trusting(), "https://b.example/", false).await);
    assert!(why.contains("certificate"), "another host's certificate: {why}");
    let why = reason(call(&network(server), Tls::default(), "https://a.example/", false).await);
    assert!(why.contains("certificate"), "one that nobody trusts: {why}");

    let (server, seen) = serve(redirect(302, "http://a.example/")).await;
    let why = reason(call(&network(server), trusting(), "https://a.example/", false).await);
    assert!(why.contains("must not lead from https to http"), "{why}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nothing_is_sent_under_a_lease_that_is_over() {
    let tasks = TaskGroup::new();
    let (server, seen) = serve(&tasks, "127.0.0.1:0", FINE.to_owned()).await;
    let lease = LeaseKey { tenant: TenantId::fresh(), task: TaskId::fresh(), attempt: 1 };
    let (_sender, lease_until) = watch::channel(1);
    let limits = OutputLimits { head: 1000, tail: 1000 };
    let run_json = serde_json::json!({"method": "GET", "url": format!("http://{server}/")});
    let end = run(Assigned {
        lease,
        run: serde_json::from_value(run_json).unwrap(),
        traceparent: String::new(),
        policy: PoolPolicy { private_targets: true, ..PoolPolicy::default() }.into(),
        cap_until: clock::monotonic() + Duration::from_secs(20),
        network: Arc::new(Direct::default()),
        tls: Arc::default(),
        body_limit: 2000,
        output: Arc::new(AttemptOutput::new(lease, limits)),
        queue: Arc::new(OutputQueue::default()),
        stop: Arc::new(Notify::new()),
        lease_until,
    })
    .await;
    assert_eq!((end, seen.load(Ordering::SeqCst)), (HttpEnd::Cut, 0));
}
