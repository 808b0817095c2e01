//! TLS is verified, and nothing is sent by what may not go on.

use super::{
    FINE, Heard, PUBLIC, Scripted, call, get, named, reason, redirect, rules, serve, serve_with,
};
use crate::exchange::{Answered, Rules, run};
use crate::failure::Failure;
use crate::tls::Tls;
use crate::waits::Waits;
use domain::task::SuccessRule;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
        assert!(matches!(end, Ok(Answered { succeeded: true, .. })), "{url}: {end:?}");
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
async fn nothing_is_sent_once_it_may_not_go_on() {
    let tasks = TaskGroup::new();
    let (server, seen) = serve(&tasks, "127.0.0.1:0", FINE.to_owned()).await;
    let network = Scripted { server: Some(server), ..Scripted::default() };
    for asks in 0..2 {
        let asked = AtomicUsize::new(0);
        let may_go_on = || asked.fetch_add(1, Ordering::SeqCst) < asks;
        let (success, waits) = (SuccessRule::default(), Waits::default());
        let rules = Rules { may_go_on: &may_go_on, ..rules(false, &success, &waits) };
        let url = format!("http://{PUBLIC}/");
        let (tls, request) = (Tls::default(), get(&url).unwrap());
        let done = run(&network, &tls, rules, request, &mut Heard::default()).await;
        assert!(matches!(done, Err(Failure::Withdrawn)), "{done:?}");
        // Before it is connected to anything; before anything is sent.
        assert_eq!(network.asked().len(), asks);
    }
    assert!(seen.load(Ordering::SeqCst) <= 1);
}
