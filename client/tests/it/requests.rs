//! What each verb asks for, and what it makes of the answer.

use crate::server::{Line, Server, task};
use client::{
    AttemptState, CancelResult, Client, ClientError, CostsQuery, LogFilter, NewTask, PageRequest,
    Stream, TaskFilter,
};
use domain::id::TaskId;
use domain::resources::Tier;
use domain::task::{AttemptOutcome, State};

fn client(server: &Server) -> Client {
    Client::builder(&server.url).api_key("berth_test_key").build().unwrap()
}

fn id() -> TaskId {
    "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071".parse().unwrap()
}

#[tokio::test]
async fn a_submit_sends_the_task_with_key_and_bearer_and_reads_the_task() {
    let server = Server::with([Line::json(201, task("ready"))]).await;
    let answer = client(&server).submit(&NewTask::command(["echo", "hi"])).await.unwrap();
    assert_eq!((answer.id, answer.is_replayed()), (id(), false));
    assert_eq!(answer.state, State::Ready);
    assert_eq!(
        answer.json(),
        task("ready").as_bytes(),
        "what the API said, unknown fields included"
    );
    let requests = &server.requests()[0];
    assert_eq!(requests.line, "POST /v1/tasks");
    assert_eq!(requests.authorization.as_deref(), Some("Bearer berth_test_key"));
    assert_eq!(requests.body, r#"{"run":{"command":{"argv":["echo","hi"]}}}"#);
    assert!(requests.key.is_some());
}

#[tokio::test]
async fn an_own_key_is_sent_and_a_replay_is_reported() {
    let replay = Line::Answer(201, vec![("idempotency-replayed", "true")], task("ready"));
    let server = Server::with([replay]).await;
    let task = NewTask::noop(std::time::Duration::ZERO);
    let answer = client(&server).submit_with_key(&task, "mine".parse().unwrap()).await.unwrap();
    assert!(answer.is_replayed());
    assert_eq!(server.requests()[0].key.as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_batch_has_a_result_for_each_task() {
    let body = r#"{"accepted":1,"rejected":1,"results":[
        {"index":0,"task":{"id":"task_0190a6f3c1d27a3e8b1f0c2d4e5f6071","state":"ready"}},
        {"index":1,"error":{"type":"x","title":"The request is invalid","status":422,"detail":"/tasks/1/name: is too long",
         "code":"validation_failed","retryable":false,"errors":[{"pointer":"/tasks/1/name","detail":"is too long"}]}}]}"#;
    let server = Server::with([Line::json(200, body)]).await;
    let tasks = [NewTask::command(["a"]), NewTask::command(["b"])];
    let answer = client(&server).submit_batch(&tasks).await.unwrap();
    assert_eq!((answer.accepted, answer.rejected), (1, 1));
    assert_eq!(answer.results[0].task.as_ref().unwrap().id(), id());
    assert_eq!(answer.results[1].error.as_ref().unwrap().errors[0].pointer, "/tasks/1/name");
    let requests = &server.requests()[0];
    assert_eq!((requests.line.as_str(), requests.key.is_some()), ("POST /v1/tasks/batch", true));
    assert!(requests.body.starts_with(r#"{"tasks":[{"run":"#));
}

#[tokio::test]
async fn a_list_passes_its_filter_and_follows_its_pages() {
    let page = |next: &str| {
        Line::json(200, format!(r#"{{"data":[{}],"next_cursor":{next}}}"#, task("running")))
    };
    let server = Server::with([page(r#""c+/=""#), page("null")]).await;
    let client = client(&server);
    let filter = TaskFilter {
        states: vec![State::Running, State::Ready],
        tier: Some(Tier::Basic),
        name: Some("a b".to_owned()),
        labels: vec!["team=x=y".parse().unwrap(), "env!=prod".parse().unwrap()],
        schedule: Some("a.b".parse().unwrap()),
        ..TaskFilter::default()
    };
    let request = PageRequest { limit: Some(1), cursor: None };
    let first = client.list(&filter, &request).await.unwrap();
    assert_eq!(first.data[0].state, State::Running);
    let second = client.list(&filter, &first.next(&request).unwrap()).await.unwrap();
    assert_eq!(second.next(&request), None);
    let query = "state=running%2Cready&tier=basic&name=a+b&schedule=a.b&label=team%3Dx%3Dy&label=env%21%3Dprod&limit=1";
    let lines: Vec<String> = server.requests().into_iter().map(|requests| requests.line).collect();
    assert_eq!(
        lines,
        [format!("GET /v1/tasks?{query}"), format!("GET /v1/tasks?{query}&cursor=c%2B%2F%3D")]
    );
}

#[tokio::test]
async fn a_concurrency_key_of_any_letters_is_one_part_of_the_path() {
    let limit = |more: &str| {
        Line::json(
            200,
            format!(r#"{{"key":"a/b","running":3,"stored":true,"updated_at":null{more}}}"#),
        )
    };
    let server = Server::with([limit(""), limit(r#","held":2"#), limit("")]).await;
    let client = client(&server);
    let set = client.set_concurrency_limit("a/b", 3).await.unwrap();
    assert_eq!(set.running, 3);
    assert_eq!(client.concurrency_limit("a b%2f?#é").await.unwrap().held, 2);
    client.delete_concurrency_limit("..a").await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].body, r#"{"running":3}"#);
    let lines: Vec<_> = requests.iter().map(|requests| requests.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "PUT /v1/concurrency-limits/a%2Fb",
            "GET /v1/concurrency-limits/a%20b%252f%3F%23%C3%A9",
            "DELETE /v1/concurrency-limits/%2E%2Ea"
        ]
    );
}

#[tokio::test]
async fn a_cancel_returns_its_result() {
    let body = task("cancelling").replacen('{', r#"{"cancel":"requested","#, 1);
    let server = Server::with([Line::json(202, body)]).await;
    let answer = client(&server).cancel(id()).await.unwrap();
    assert!(answer.cancel == CancelResult::Requested && answer.task.state == State::Cancelling);
    let requests = &server.requests()[0];
    assert_eq!(requests.line, "POST /v1/tasks/task_0190a6f3c1d27a3e8b1f0c2d4e5f6071/cancel");
    assert!(requests.key.is_some() && requests.body.is_empty());
}

#[tokio::test]
async fn logs_are_bytes_of_one_attempt_and_stream() {
    let chunk = r#"{"attempt":2,"stream":"stderr","seq":0,"offset":0,"at":"2030-01-31T12:00:00Z","base64":"//4="}"#;
    let server =
        Server::with([Line::json(200, format!(r#"{{"data":[{chunk}],"next_cursor":null}}"#))])
            .await;
    let since = "2030-01-31T12:00:00Z".parse().ok();
    let filter = LogFilter { attempt: Some(2), stream: Some(Stream::Stderr), tail: Some(5), since };
    let page = client(&server).logs(id(), filter, &PageRequest::default()).await.unwrap();
    assert_eq!(page.data[0].data, [0xff, 0xfe]);
    let query = "attempt=2&stream=stderr&tail=5&since=2030-01-31T12%3A00%3A00Z";
    assert!(
        server.requests()[0].line.ends_with(&format!("/logs?{query}")),
        "{}",
        server.requests()[0].line
    );
}

#[tokio::test]
async fn usage_and_attempts_are_read() {
    let amounts =
        r#""attempts":2,"charged_attempts":1,"run_ms":5,"cpu_millis_ms":6,"memory_mib_ms":7"#;
    let usage = format!(
        r#"{{"from":"2030-01-01","to":"2030-01-31","data":[{{"day":"2030-01-02","tier":null,{amounts}}}],"total":{{{amounts}}}}}"#
    );
    let attempt = r#"{"data":[{"attempt":1,"state":"lost","charged":false,"executor":"e","placed_at":"2030-01-31T12:00:00Z",
        "ended_at":null,"usage_ms":0,"exit_code":null,"signal":null,"reason":null,"stdout_bytes":0,"stderr_bytes":0,"output_over_quota":false}],"next_cursor":null}"#;
    let server = Server::with([Line::json(200, usage), Line::json(200, attempt)]).await;
    let client = client(&server);
    let query = CostsQuery { from: "2030-01-01".parse().ok(), ..CostsQuery::default() };
    let usage = client.usage(&query).await.unwrap();
    assert_eq!((usage.total.run_ms, &usage.data[0].tier), (5, &None));
    assert_eq!(server.requests()[0].line, "GET /v1/usage?from=2030-01-01");
    let attempts = client.attempts(id(), &PageRequest::default()).await.unwrap();
    assert_eq!(attempts.data[0].state, AttemptState::Ended(AttemptOutcome::Lost));
    assert!(!attempts.data[0].charged);
}

#[tokio::test]
async fn a_response_of_another_server_is_an_error() {
    let server = Server::with([Line::json(200, "<html>welcome</html>")]).await;
    assert!(matches!(client(&server).get(id()).await, Err(ClientError::UnexpectedResponse { .. })));
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key_in_hand() {
    let elsewhere = Line::Answer(307, vec![("location", "http://127.0.0.1:1/")], String::new());
    let server = Server::with([elsewhere]).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.api().unwrap().status, 307);
}

#[tokio::test]
async fn each_lever_asks_for_its_route() {
    let server = Server::with([(); 4].map(|()| Line::json(200, task("ready")))).await;
    let client = client(&server);
    let retried = client.retry(id(), "mine".parse().unwrap()).await.unwrap();
    assert_eq!((retried.state.clone(), retried.version), (State::Ready.into(), 1));
    client.run_now(id()).await.unwrap();
    client.mark_succeeded(id(), "by hand").await.unwrap();
    client.change_task(id(), &serde_json::json!({"priority": 3}), Some(2)).await.unwrap();
    let path = "/v1/tasks/task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    let requests = server.requests();
    let sent: Vec<_> = requests.iter().map(|r| (r.line.as_str(), r.body.as_str())).collect();
    assert_eq!(
        sent,
        [
            (format!("POST {path}/retry").as_str(), ""),
            (format!("POST {path}/run-now").as_str(), ""),
            (format!("POST {path}/mark-succeeded").as_str(), r#"{"note":"by hand"}"#),
            (format!("PATCH {path}").as_str(), r#"{"priority":3}"#),
        ]
    );
    assert_eq!(requests[0].key.as_deref(), Some("mine"));
    assert!(requests[1].key.is_some() && requests[2].key.is_some() && requests[3].key.is_none());
}
