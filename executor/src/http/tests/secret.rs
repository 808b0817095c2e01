//! TLS is verified, and nothing is sent once the lease is over.

use super::{FINE, PUBLIC, Scripted, call, named, reason, redirect, serve, serve_with};
use crate::http::attempt::{Assigned, run};
use crate::http::end::HttpEnd;
use crate::http::network::Direct;
use crate::http::tls::Tls;
use crate::output::{AttemptOutput, OutputLimits, OutputQueue};
use domain::id::{TaskId, TenantId};
use domain::pool::PoolPolicy;
use protocol::LeaseKey;
use runtime::clock;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

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
    let (end, _) = run(Assigned {
        lease,
        run: serde_json::from_value(run_json).unwrap(),
        traceparent: String::new(),
        due: crate::due::Due::default(),
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
