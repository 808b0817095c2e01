//! Hosts of HTTP tasks, with a name server that does not answer for all of them.

use crate::agent::{Agent, Home};
use crate::called::{Called, get, http, ok};
use crate::host::until;
use crate::name_server::NameServer;
use crate::rm::{LIMIT, Rm, outcome};
use domain::id::{SessionId, TenantId};
use domain::task::LeaseKey;
use protocol::result::Outcome;
use runtime::clock;
use serde_json::json;
use std::fs;
use std::process::Command;
use std::time::Duration;

async fn open_rm() -> Rm {
    Rm::start_with(|script| script.private_targets = true).await
}

/// Assigns a call for `tenant`.
fn call(rm: &Rm, tenant: TenantId, run: &str, cap: Duration) -> LeaseKey {
    let lease = rm.assign_with(run, |assignment| {
        let lease = assignment.lease.as_mut().unwrap();
        let key = LeaseKey { tenant, ..lease.key(SessionId::fresh()).unwrap() };
        *lease = key.into();
        assignment.cap_ms = u64::try_from(cap.as_millis()).unwrap();
    });
    LeaseKey { tenant, ..lease }
}

const MINUTE: Duration = Duration::from_secs(60);

/// One tenant calls 1500 hosts that nobody answers for, then others call a host that there is.
async fn others_are_served(rm: &Rm, called: &Called) {
    let (port, silent) = (called.address.port(), TenantId::fresh());
    rm.assign_all((0..1500).map(|nth| {
        let url = format!("http://silent-{nth}.example:{port}/");
        (silent, get(&url))
    }));
    let began = clock::monotonic();
    let honest = rm.assign_all((0..12).map(|nth| {
        let url = format!("http://known-{nth}.example:{port}/");
        (TenantId::fresh(), get(&url))
    }));
    for lease in honest {
        let result = rm.result(lease).await;
        assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "others waited for {took:?}");
}

#[tokio::test]
async fn names_of_one_tenant_that_nobody_answers_for_hold_up_no_other() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|_, _| ok("hi")).await;
    let server = NameServer::start("127.0.0.1:0").await.unwrap();
    let address = server.address.to_string();
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__NAME_SERVERS", &address)]);
    rm.hello(0).await;
    others_are_served(&rm, &called).await;
}

#[tokio::test]
async fn the_name_servers_of_the_system_are_asked_and_one_tenant_holds_up_no_other() {
    // Only root may listen on the port that a file of the system means.
    let bind = format!("127.83.{}.{}:53", std::process::id() / 250 % 250, std::process::id() % 250);
    let Ok(server) = NameServer::start(&bind).await else {
        return eprintln!("SKIPPED: {bind} cannot be listened on");
    };
    let (rm, home) = (open_rm().await, Home::new());
    let (file, hosts) = (home.path().join("resolv.conf"), home.path().join("hosts"));
    fs::write(&file, format!("search example\nnameserver {}\n", server.address.ip())).unwrap();
    fs::write(&hosts, "127.0.0.1 of-the-hosts-file\n").unwrap();
    let (file, hosts) = (file.to_str().unwrap(), hosts.to_str().unwrap());
    let seen =
        ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--bind", file, "/etc/resolv.conf"];
    let seen = [&seen[..], &["--bind", hosts, "/etc/hosts", "--"]].concat();
    if !Command::new(seen[0]).args(&seen[1..]).arg("true").status().is_ok_and(|it| it.success()) {
        return eprintln!("SKIPPED: files of the system cannot be replaced here");
    }
    let called = Called::start(|_, _| ok("hi")).await;
    let settings = [("EXECUTOR__ISOLATION", "none")];
    let _agent = Agent::start_below(&home, &[&rm.address], &settings, &seen);
    rm.hello(0).await;
    for host in ["known", "known.example", "of-the-hosts-file"] {
        let url = format!("http://{host}:{}/", called.address.port());
        let result = rm.result(call(&rm, TenantId::fresh(), &get(&url), MINUTE)).await;
        assert_eq!(outcome(&result), Outcome::Succeeded, "{host}: {}", result.reason);
    }
    let asked = server.asked();
    assert!(asked.iter().all(|name| name == "known.example"), "{asked:?}");
    // What the files say now counts, not what they said at the start.
    fs::write(hosts, "127.0.0.1 of-the-hosts-file added-later\n").unwrap();
    let url = format!("http://added-later:{}/", called.address.port());
    let result = rm.result(call(&rm, TenantId::fresh(), &get(&url), MINUTE)).await;
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
    others_are_served(&rm, &called).await;
}

#[tokio::test]
async fn a_name_without_an_answer_and_one_that_is_not_there_fail_with_the_reason() {
    let (rm, home) = (open_rm().await, Home::new());
    let server = NameServer::start("127.0.0.1:0").await.unwrap();
    let address = server.address.to_string();
    let settings =
        [("EXECUTOR__NAME_SERVERS", &address[..]), ("EXECUTOR__LOOKUP_TIMEOUT", "500ms")];
    let _agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    for (host, reason) in [
        ("gone.example", "the name gone.example cannot be resolved: there is no such name"),
        (
            "silent.example",
            "the name silent.example cannot be resolved: no name server has answered within 500ms \
             (`executor.lookup_timeout`, the same for all tasks)",
        ),
    ] {
        let result = rm.result(rm.assign(&get(&format!("http://{host}/")))).await;
        assert_eq!(outcome(&result), Outcome::Failed);
        assert_eq!(result.reason, reason);
    }
}

#[tokio::test]
async fn waiting_for_a_turn_takes_nothing_of_the_timeout_and_is_never_charged() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|_, _| ok("hi")).await;
    let server = NameServer::start("127.0.0.1:0").await.unwrap();
    let address = server.address.to_string();
    let settings = [
        ("EXECUTOR__NAME_SERVERS", &address[..]),
        ("EXECUTOR__MAX_LOOKUPS_PER_TENANT", "1"),
        ("EXECUTOR__LOOKUP_TIMEOUT", "2s"),
    ];
    let _agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let (tenant, port) = (TenantId::fresh(), called.address.port());
    let first = call(&rm, tenant, &get("http://silent.example/"), MINUTE);
    until("the first is looked up", LIMIT, || !server.asked().is_empty()).await;
    // Each waits for two seconds, longer than one may run and the other may take.
    let url = format!("http://known.example:{port}/");
    let short = http(json!({"method": "GET", "url": url, "timeout": "1s"}));
    let capped = call(&rm, tenant, &get(&url), Duration::from_millis(300));
    let patient = call(&rm, tenant, &short, MINUTE);
    let result = rm.result(capped).await;
    assert_eq!(outcome(&result), Outcome::NotStarted, "{}", result.reason);
    assert!(result.reason.contains("waited to look up a host name"), "{}", result.reason);
    assert!(result.ran_ms < 100, "it only waited, and ran for {} ms", result.ran_ms);
    let result = rm.result(patient).await;
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
    assert!(result.ran_ms < 1000, "the wait is billed: {} ms", result.ran_ms);
    assert_eq!(outcome(&rm.result(first).await), Outcome::Failed);
}
