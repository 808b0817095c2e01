//! What is sent to a called server, and to whom it is not sent.

use crate::agent::{Agent, Home};
use crate::called::{Called, answer, get, http, ok};
use crate::rm::{Rm, outcome};
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use serde_json::json;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

async fn open_rm() -> Rm {
    Rm::start_with(|script| script.private_targets = true).await
}

fn header<'a>(request: &'a str, name: &str) -> Vec<&'a str> {
    let head = request.split("\r\n\r\n").next().unwrap();
    let lines = head.split("\r\n").skip(1).filter_map(|line| line.split_once(": "));
    lines.filter(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
}

#[tokio::test]
async fn a_call_says_what_the_task_says_and_which_attempt_it_is() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|_, _| ok("done")).await;
    let _agent = Agent::start(&home, &[&rm.address]);
    assert_eq!(rm.hello(0).await.drivers, ["command", "http", "noop"]);
    let run = http(json!({"method": "POST", "url": called.url("/a/b?c=d%20e#f"), "body": "größe",
        "headers": {"X-Own": "yes", "User-Agent": "mine/1", "Content-Type": "text/plain"}}));
    let lease = rm.assign_with(&run, |assignment| {
        assignment.lease.as_mut().unwrap().attempt = 7;
        assignment.traceparent = TRACE.to_owned();
    });
    let lease = domain::task::LeaseKey { attempt: 7, ..lease };
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Succeeded, Some(200)));
    assert_eq!((result.reason.as_str(), result.retry_after_ms), ("", None));
    let request = &called.requests()[0];
    assert!(request.starts_with("POST /a/b?c=d%20e HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\ngröße"), "{request}");
    let one = |name: &str| {
        let all = header(request, name);
        assert_eq!(all.len(), 1, "{name} in {request}");
        all[0]
    };
    assert_eq!(one("Host"), called.address.to_string());
    assert_eq!(one("Berth-Task-Id"), lease.task.to_string());
    assert_eq!(one("Idempotency-Key"), lease.task.to_string());
    assert_eq!(one("Berth-Attempt"), "7");
    assert_eq!(one("X-Own"), "yes");
    assert_eq!(one("User-Agent"), "mine/1");
    assert_eq!(one("Content-Length"), "7");
    assert_eq!(one("Traceparent"), TRACE);
    assert!(request.contains("\r\nBerth-Task-Id: "), "names are sent as they are written");
    assert_eq!(rm.output_text(lease, Stream::Stdout), "done");
    let log = rm.output_text(lease, Stream::Stderr);
    assert!(log.contains("/a/b?c=d%20e\n< HTTP/1.1 200 OK\n< content-length: 4\n"), "{log}");
}

#[tokio::test]
async fn headers_go_out_as_they_are_written_and_a_body_says_what_and_how_long_it_is() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|path, _| match path {
        "/see-other" => answer("303 See Other", "Location: /there\r\n", ""),
        "/again" => answer("307 Temporary Redirect", "Location: /there\r\n", ""),
        _ => ok(""),
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let sent = async |run: serde_json::Value| {
        let before = called.requests().len();
        let result = rm.result(rm.assign(&http(run))).await;
        assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
        called.requests()[before..].join("|")
    };
    let request = sent(json!({"method": "POST", "url": called.url("/again"), "body": "{}", "headers":
        {"X-API-key": "k", "x-lower": "1", "SOAPAction": "a", "content-TYPE": "a/b", "USER-agent": "mine/1"}}))
    .await;
    for line in
        ["X-API-key: k", "x-lower: 1", "SOAPAction: a", "content-TYPE: a/b", "USER-agent: mine/1"]
    {
        let line = format!("\r\n{line}\r\n");
        assert_eq!(request.matches(&line).count(), 2, "{line} in {request}");
    }
    assert_eq!(request.to_lowercase().matches("content-type").count(), 2, "{request}");
    assert!(
        request.contains("\r\nBerth-Task-Id: ") && request.contains("\r\nContent-Length: 2\r\n")
    );

    for method in ["POST", "PUT", "PATCH"] {
        let request = sent(json!({"method": method, "url": called.url("/")})).await;
        assert_eq!(header(&request, "Content-Length"), ["0"], "{request}");
        assert_eq!(header(&request, "Content-Type"), [""; 0], "{request}");
    }
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        let request = sent(json!({"method": method, "url": called.url("/")})).await;
        assert_eq!(header(&request, "Content-Length"), [""; 0], "{request}");
    }
    for (field, body, kind, length) in [
        ("body", "{\"a\": 1}", "application/json", "8"),
        ("body", "größe", "text/plain; charset=utf-8", "7"),
        ("body_base64", "AP8=", "application/octet-stream", "2"),
    ] {
        let run = json!({"method": "POST", "url": called.url("/"), field: body});
        let request = sent(run).await;
        assert_eq!(header(&request, "Content-Type"), [kind], "{request}");
        assert_eq!(header(&request, "Content-Length"), [length], "{request}");
    }
    let request =
        sent(json!({"method": "POST", "url": called.url("/see-other"), "body": "{}"})).await;
    let last = request.split('|').next_back().unwrap();
    assert!(
        last.starts_with("GET /there ") && !last.to_lowercase().contains("\r\ncontent-"),
        "{last}"
    );
}

#[tokio::test]
async fn without_leave_of_the_pool_a_private_server_hears_nothing() {
    let (rm, home) = (Rm::start().await, Home::new());
    let called = Called::start(|_, _| ok("never")).await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let port = called.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"]
    {
        let result = rm.result(rm.assign(&get(&format!("http://{host}:{port}/")))).await;
        assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, None), "{host}");
        assert!(result.reason.contains("was refused: its address is "), "{}", result.reason);
    }
    assert_eq!(called.requests(), [""; 0]);
    // The newest welcome counts.
    rm.change(|script| script.private_targets = true);
    rm.go_away();
    rm.hello(1).await;
    let result = rm.result(rm.assign(&get(&called.url("/")))).await;
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
}

#[tokio::test]
async fn no_proxy_is_asked_whatever_the_environment_says() {
    let (rm, home) = (open_rm().await, Home::new());
    let (called, proxy) = (Called::start(|_, _| ok("")).await, Called::start(|_, _| ok("")).await);
    let plain = proxy.url("");
    let _agent = Agent::start_among(
        &home,
        &[&rm.address],
        &[
            ("HTTP_PROXY", &plain),
            ("http_proxy", &plain),
            ("HTTPS_PROXY", &plain),
            ("ALL_PROXY", &plain),
        ],
    );
    rm.hello(0).await;
    assert_eq!(outcome(&rm.result(rm.assign(&get(&called.url("/")))).await), Outcome::Succeeded);
    assert_eq!((called.requests().len(), proxy.requests().len()), (1, 0));
}

#[tokio::test]
async fn redirects_are_followed_five_times_and_not_once_more() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|path, _| match path.trim_start_matches('/').parse::<u32>() {
        Ok(0) | Err(_) => ok("there"),
        Ok(left) => answer("302 Found", &format!("Location: /{}\r\n", left - 1), "moved"),
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&get(&called.url("/5")));
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    assert_eq!(rm.output_text(lease, Stream::Stdout), "there");
    assert_eq!(called.requests().len(), 6);
    let result = rm.result(rm.assign(&get(&called.url("/6")))).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, Some(302)));
    assert_eq!(result.reason, "more than 5 redirects; the last answer was 302");
    assert_eq!(called.requests().len(), 12);
    // One that counts as a success is not followed.
    let run = json!({"method": "GET", "url": called.url("/1"), "success": "302"});
    let result = rm.result(rm.assign(&http(run))).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Succeeded, Some(302)));
    assert_eq!(called.requests().len(), 13);
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect_to_another_origin() {
    let (rm, home) = (open_rm().await, Home::new());
    let other = Called::start(|_, _| ok("")).await;
    let to = other.url("/");
    let called = Called::start(move |path, _| {
        let to = if path == "/" { "/here" } else { &to };
        answer("307 Temporary Redirect", &format!("Location: {to}\r\n"), "")
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&http(json!({"method": "PUT", "url": called.url("/"), "body": "x",
        "headers": {"Authorization": "Bearer secret", "X-Api-Key": "secret", "Accept": "a/b"}})));
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    assert!(called.requests()[1].contains("secret"), "within an origin all is sent again");
    let request = &other.requests()[0];
    assert!(request.starts_with("PUT / ") && request.ends_with("\r\n\r\nx"), "{request}");
    assert!(!request.contains("secret") && request.contains("a/b"), "{request}");
    assert_eq!(header(request, "Berth-Task-Id"), [lease.task.to_string()]);
}
