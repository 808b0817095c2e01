//! What is never connected to, however it is asked for: no connection is asked for, and none is seen by a listener
//! that stands on every address of this machine.

use super::{FINE, Heard, PUBLIC, Scripted, call, get, named, reason, redirect, rules, serve};
use crate::exchange::{Answered, run};
use crate::network::Direct;
use crate::tls::Tls;
use crate::waits::Waits;
use domain::task::SuccessRule;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;

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
        assert!(why.starts_with("its URL must "), "{url}: {why}");
        reason(call(&scripted, Tls::default(), url, true).await);
    }
    assert_eq!((scripted.asked(), seen.load(Ordering::SeqCst)), (vec![], 0));
    // The listener does listen: a pool that allows private targets reaches it.
    let url = format!("http://127.0.0.1:{}/", listener.port());
    let open = call(&direct, Tls::default(), &url, true).await;
    assert!(matches!(open, Ok(Answered { succeeded: true, .. })), "{open:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_transcript_is_told_of_each_request_and_of_the_last_body() {
    let tasks = TaskGroup::new();
    let (last, _) = serve(&tasks, "127.0.0.1:0", FINE.to_owned()).await;
    let to = format!("http://{last}/last");
    let (first, _) = serve(&tasks, "127.0.0.1:0", redirect(307, &to)).await;
    let (success, waits, mut heard) = (SuccessRule::default(), Waits::default(), Heard::default());
    let request = get(&format!("http://{first}/")).unwrap();
    let rules = rules(true, &success, &waits);
    let (network, tls) = (Direct::default(), Tls::default());
    run(&network, &tls, rules, request, &mut heard).await.unwrap();
    assert_eq!(heard.asked, [format!("GET http://{first}/"), format!("GET {to}")]);
    assert_eq!(heard.body, b"hi");
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
async fn a_name_that_changes_its_meaning_is_checked_again_at_each_hop_and_exchange() {
    let tasks = TaskGroup::new();
    let back = redirect(302, "http://rebind.example/again");
    let (server, _) = serve(&tasks, "127.0.0.1:0", back).await;
    let mut network = named(&[("rebind.example", &[&[PUBLIC], &["127.0.0.1"]])]);
    network.server = Some(server);
    let network = Arc::new(network);
    for attempt in 1..=3 {
        let why = reason(call(&network, Tls::default(), "http://rebind.example/", false).await);
        assert_eq!(why, "rebind.example was refused: its address is loopback", "attempt {attempt}");
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
