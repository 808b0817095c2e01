//! What becomes of an answer: its verdict, its body, and what it asks for.

use crate::agent::{Agent, Home};
use crate::called::{Called, Says, answer, get, http, ok};
use crate::host::until;
use crate::rm::{LIMIT, Rm, outcome};
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use runtime::clock;
use serde_json::json;
use std::time::Duration;

async fn open_rm() -> Rm {
    Rm::start_with(|script| script.private_targets = true).await
}

#[tokio::test]
async fn the_tasks_rule_says_which_status_is_a_success() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|path, _| answer(path.trim_start_matches('/'), "", "told")).await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    for (rule, status, good) in [
        (None, 200, true),
        (None, 204, true),
        (None, 304, false),
        (None, 404, false),
        (None, 500, false),
        (Some("200,404"), 404, true),
        (Some("200,404"), 204, false),
        (Some("500-599"), 503, true),
    ] {
        let mut run = json!({"method": "GET", "url": called.url(&format!("/{status}"))});
        if let Some(rule) = rule {
            run["success"] = json!(rule);
        }
        let lease = rm.assign(&http(run));
        let result = rm.result(lease).await;
        let wanted = if good { Outcome::Succeeded } else { Outcome::Failed };
        assert_eq!((outcome(&result), result.exit_code), (wanted, Some(status)), "{rule:?}");
        let reason = if good { String::new() } else { format!("answered {status}") };
        assert_eq!(result.reason, reason);
        if ![204, 304].contains(&status) {
            assert_eq!(rm.output_text(lease, Stream::Stdout), "told", "kept in any case");
        }
    }
}

#[tokio::test]
async fn a_server_may_ask_for_a_wait_with_any_failing_answer() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|path, _| match path {
        "/seconds" => answer("503 Busy", "Retry-After: 90\r\n", ""),
        "/date" => answer(
            "429 Slow",
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n",
            "",
        ),
        "/year" => answer("503 Busy", "Retry-After: 31536000\r\n", ""),
        "/nonsense" => answer("503 Busy", "Retry-After: soon\r\n", ""),
        _ => answer("200 OK", "Retry-After: 90\r\n", ""),
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    for (path, wait) in [
        ("/seconds", Some(90_000)),
        ("/date", Some(30_000)),
        ("/year", Some(3_600_000)),
        ("/nonsense", None),
        ("/fine", None),
    ] {
        let result = rm.result(rm.assign(&get(&called.url(path)))).await;
        assert_eq!(result.retry_after_ms, wait, "{path}");
    }
}

#[tokio::test]
async fn a_body_is_seen_while_it_comes() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|_, _| {
        Says::Waits(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n".to_owned(),
        )
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&get(&called.url("/")));
    until("the first piece", LIMIT, || rm.output_text(lease, Stream::Stdout) == "first").await;
    assert_eq!(rm.results(lease), []);
    rm.stop(lease);
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Stopped);
    called.left(1).await;
}

#[tokio::test]
async fn a_flood_is_read_no_further_than_it_is_kept() {
    let (rm, home) = (open_rm().await, Home::new());
    let settings =
        [("EXECUTOR__OUTPUT_HEAD_BYTES", "200000"), ("EXECUTOR__OUTPUT_TAIL_BYTES", "100000")];
    let agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let called = Called::start(|path, _| match path {
        "/endless" => Says::Floods("HTTP/1.1 200 OK\r\n\r\n".to_owned()),
        "/long" => {
            Says::Floods("HTTP/1.1 500 Oops\r\nContent-Length: 9999999999\r\n\r\n".to_owned())
        }
        "/head" => Says::Floods("HTTP/1.1 200 OK\r\nA: ".to_owned()),
        _ => ok("small"),
    })
    .await;
    rm.result(rm.assign(&get(&called.url("/")))).await;
    let before = agent.rss_kib();
    for (path, wanted, status) in
        [("/endless", Outcome::Succeeded, 200), ("/long", Outcome::Failed, 500)]
    {
        let lease = rm.assign(&get(&called.url(path)));
        let result = rm.result(lease).await;
        assert_eq!((outcome(&result), result.exit_code), (wanted, Some(status)));
        assert_eq!(result.stdout_bytes, 300_000);
        assert_eq!(rm.output_text(lease, Stream::Stdout), "x".repeat(300_000));
        let log = rm.output_text(lease, Stream::Stderr);
        assert!(log.ends_with("* the body was read no further than 300000 bytes\n"), "{log}");
    }
    called.left(2).await;
    let many: Vec<_> = (0..20).map(|_| rm.assign(&get(&called.url("/endless")))).collect();
    for lease in many {
        assert_eq!(rm.result(lease).await.stdout_bytes, 300_000);
    }
    let lease = rm.assign(&get(&called.url("/head")));
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, None));
    assert!(result.reason.starts_with("no answer from 127.0.0.1: "), "{}", result.reason);
    let after = agent.rss_kib();
    assert!(after < before + 40 * 1024, "from {before} to {after} KiB");
}

#[tokio::test]
async fn what_is_no_whole_answer_has_failed_and_says_so() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|path, _| {
        Says::Then(match path {
            "/torn" => "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_owned(),
            "/none" => String::new(),
            _ => "220 mail.example ESMTP\r\n".to_owned(),
        })
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let result = rm.result(rm.assign(&get(&called.url("/torn")))).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, Some(200)));
    assert!(
        result.reason.starts_with("the answer 200 broke off after 4 bytes"),
        "{}",
        result.reason
    );
    for path in ["/none", "/mail"] {
        let result = rm.result(rm.assign(&get(&called.url(path)))).await;
        assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, None));
        assert!(result.reason.starts_with("no answer from 127.0.0.1: "), "{}", result.reason);
    }
    let asked = clock::monotonic();
    let result = rm.result(rm.assign(&get("http://127.0.0.1:1/"))).await;
    assert!(result.reason.starts_with("no connection to 127.0.0.1: "), "{}", result.reason);
    let result = rm.result(rm.assign(&get("http://no-such-host.invalid/"))).await;
    assert!(result.reason.contains("no-such-host.invalid cannot be resolved"), "{}", result.reason);
    assert!(clock::monotonic() - asked < Duration::from_secs(15));
}
