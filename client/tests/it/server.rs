//! A tiny HTTP server with a script: it answers each request with the next line of it, and remembers what it was asked.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use runtime::tasks::TaskGroup;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// What the server does with one request.
#[derive(Clone)]
pub enum Line {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, &'static str)>, String),
    /// Reads the request and closes the connection without a word: the write may have happened or not.
    HangUp,
}

impl Line {
    pub fn json(status: u16, body: impl Into<String>) -> Self {
        Self::Answer(status, Vec::new(), body.into())
    }
}

/// What the client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    pub line: String,
    pub authorization: Option<String>,
    pub key: Option<String>,
    pub body: String,
}

#[derive(Default)]
struct Play {
    script: VecDeque<Line>,
    requests: Vec<ReceivedRequest>,
}

#[derive(Clone)]
pub struct Server {
    pub url: String,
    play: Arc<Mutex<Play>>,
}

impl Server {
    pub async fn with(script: impl IntoIterator<Item = Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let play = Arc::new(Mutex::new(Play {
            script: script.into_iter().collect(),
            requests: Vec::new(),
        }));
        let tasks = TaskGroup::new();
        let (connections, shared) = (tasks.clone(), Arc::clone(&play));
        tasks.spawn_detached("listener", async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let shared = Arc::clone(&shared);
                connections.spawn_detached("connection", async move {
                    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                    let _hung_up = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        Self { url, play }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.play.lock().unwrap().requests.clone()
    }
}

async fn answer(
    play: Arc<Mutex<Play>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, &'static str> {
    let header =
        |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (line, authorization, key) = (
        format!("{} {}", request.method(), request.uri()),
        header("authorization"),
        header("idempotency-key"),
    );
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let next = {
        let mut play = play.lock().unwrap();
        play.requests.push(ReceivedRequest { line, authorization, key, body });
        play.script.pop_front()
    };
    match next {
        Some(Line::Answer(status, headers, body)) => {
            let mut answer = Response::builder().status(status);
            for (name, value) in headers {
                answer = answer.header(name, value);
            }
            Ok(answer.body(Full::from(body)).unwrap())
        }
        Some(Line::HangUp) => Err("the script says to hang up"),
        None => Ok(Response::builder()
            .status(500)
            .body(Full::from(r#"{"title":"the script is over"}"#))
            .unwrap()),
    }
}

/// A task as the API shows it.
pub fn task(state: &str) -> String {
    serde_json::json!({
        "id": "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "name": "n", "state": state, "pool": "default", "tier": "basic",
        "resources": {"cpu_millis": 250, "memory_mib": 512, "disk_mib": 1024, "iops": 50, "ports": 1},
        "run": {"noop": {"sleep": "0s"}}, "created_at": "2030-01-31T12:00:00.5Z", "run_at": "2030-01-31T12:00:00Z",
        "start_deadline": "2030-01-31T12:05:00Z", "delay_tolerance": "5m", "execution_cap": "1m", "expire_if_late": false,
        "priority": 0, "flexible": false, "concurrency_key": null,
        "max_attempts": 1, "attempts": 0, "failures": 0, "retry": {"backoff": "of_tomorrow", "initial": "1s", "factor": 2.0, "max": "5m", "jitter": true,
            "abort_on_exit_codes": [], "on": ["failure"]}, "delivery": "at_least_once",
        "unique_key": null, "labels": {"team": "media"}, "started_at": null, "finished_at": null, "reason": null,
        "exit_code": null, "executor": null, "schedule": null, "rerun_of": null, "workflow_run": null, "node": null, "depends_on": [], "join": null, "schedule_name": null,
        "due_at": "2030-01-31T12:00:00Z", "version": 1, "a_field_of_tomorrow": 1
    })
    .to_string()
}
