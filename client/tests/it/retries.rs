//! What is sent again, and that it is the same request each time.

use crate::server::{Line, Server, task};
use client::{Client, ClientError, NewTask, RetryPolicy};
use std::time::Duration;

fn client(url: &str, tries: u32) -> Client {
    let policy = RetryPolicy {
        tries,
        first_wait: Duration::from_millis(1),
        wait_max: Duration::from_secs(2),
    };
    Client::builder(url).api_key("k").retry(policy).build().unwrap()
}

fn problem(status: u16, retryable: bool) -> Line {
    Line::json(
        status,
        format!(
            r#"{{"type":"t","title":"t","status":{status},"code":"c","detail":"d","retryable":{retryable}}}"#
        ),
    )
}

#[tokio::test]
async fn a_write_is_repeated_with_the_same_key_and_body_until_it_is_answered() {
    let busy = Line::Answer(429, vec![("retry-after", "0")], String::new());
    let script = [
        problem(503, true),
        Line::HangUp,
        busy,
        problem(409, true),
        Line::json(201, task("ready")),
    ];
    let server = Server::with(script).await;
    client(&server.url, 5).submit(&NewTask::command(["a"])).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|one| *one == requests[0]), "{requests:?}");
}

#[tokio::test]
async fn two_writes_have_different_keys() {
    let server =
        Server::with([Line::json(201, task("ready")), Line::json(201, task("ready"))]).await;
    let client = client(&server.url, 1);
    for _ in 0..2 {
        client.submit(&NewTask::command(["a"])).await.unwrap();
    }
    let requests = server.requests();
    assert_ne!(requests[0].key, requests[1].key);
}

#[tokio::test]
async fn attempts_are_bounded_and_the_last_response_is_returned() {
    let server = Server::with((0..10).map(|_| problem(503, true))).await;
    let error = client(&server.url, 3).submit(&NewTask::command(["a"])).await.unwrap_err();
    assert_eq!(error.api().unwrap().status, 503);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_mistake_is_not_repeated() {
    for status in [400, 401, 403, 404, 422, 500] {
        let server = Server::with([problem(status, false), Line::json(201, task("ready"))]).await;
        let error = client(&server.url, 5).submit(&NewTask::command(["a"])).await.unwrap_err();
        assert_eq!((error.api().unwrap().status, server.requests().len()), (status, 1));
    }
}

#[tokio::test]
async fn a_longer_retry_after_than_the_policy_allows_is_not_waited_for() {
    let server =
        Server::with([Line::Answer(429, vec![("retry-after", "3600")], String::new())]).await;
    let error = client(&server.url, 5).submit(&NewTask::command(["a"])).await.unwrap_err();
    assert_eq!(error.api().unwrap().retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_unreachable_after_all_tries() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error =
        client(&format!("http://{free}"), 2).submit(&NewTask::command(["a"])).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { tries: 2, .. }), "{error:?}");
}

#[tokio::test]
async fn a_write_without_a_key_is_not_repeated_once_it_may_have_been_done() {
    let busy = Line::Answer(429, vec![("retry-after", "0")], String::new());
    let server = Server::with([busy, Line::HangUp, problem(503, true)]).await;
    let client = client(&server.url, 5);
    let scopes = [domain::access::OperatorScope::Read];
    let broken = client.create_operator_key("ann", &scopes, None).await.unwrap_err();
    assert!(matches!(broken, ClientError::Unreachable { .. }), "{broken}");
    assert_eq!(server.requests().len(), 2, "refused at the door, then begun");
    client.create_operator_key("ann", &scopes, None).await.unwrap_err();
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|one| one.key.is_none()));
}
