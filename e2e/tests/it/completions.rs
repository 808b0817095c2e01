//! Tasks that are completed by whom they called, through all of Berth: they need no executor while they run, outlive it, and end once.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use runtime::tasks::TaskGroup;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use testkit::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

const SOON: Duration = Duration::from_secs(30);

/// The tokens that calls carried, by task and attempt.
type Tokens = Arc<Mutex<HashMap<(String, String), String>>>;

/// Takes every call on.
async fn server(tasks: &TaskGroup, tokens: Tokens) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tasks.spawn_detached("server", async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let head = String::from_utf8_lossy(&head);
            let header = |name: &str| {
                let line = head.lines().find(|line| line.to_lowercase().starts_with(name));
                line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
            };
            let (task, attempt) = (header("berth-task-id:"), header("berth-attempt:"));
            if let (Some(task), Some(attempt), Some(token)) =
                (task, attempt, header("berth-completion-token:"))
            {
                tokens.lock().await.insert((task, attempt), token);
            }
            let answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer.as_bytes()).await.ok();
            stream.shutdown().await.ok();
        }
    });
    Ok(url)
}

struct Stage {
    cluster: Cluster,
    customer: Customer,
    tokens: Tokens,
    url: String,
    _server: TaskGroup,
}

impl Stage {
    async fn start() -> anyhow::Result<Self> {
        let (tasks, tokens) = (TaskGroup::new(), Tokens::default());
        let url = server(&tasks, Arc::clone(&tokens)).await?;
        // Room for one task of this tier at a time.
        let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| {
            shape.with(role, usize::from(role != Role::Executor))
        });
        let mut cluster = Cluster::start(shape.set("BERTH_EXECUTOR__CPU_MILLIS", "250")).await?;
        // An executor learns of it when it joins.
        cluster.berth(&["admin", "pool", "set", "default", "--private-targets", "on"]).await?;
        cluster.join(Role::Executor).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        Ok(Self { cluster, customer, tokens, url, _server: tasks })
    }

    async fn submit(&self, fields: Value) -> anyhow::Result<String> {
        let mut task = json!({"run": {"http": {"url": self.url, "complete": "callback"}},
            "max_attempts": 3, "retry": {"backoff": "constant", "initial": "100ms", "jitter": false}});
        for (name, value) in fields.as_object().into_iter().flatten() {
            task[name] = value.clone();
        }
        let (status, made) = self.customer.call("POST", "/v1/tasks", Some(&task), None).await?;
        anyhow::ensure!(status == 201, "submit answered {status}: {made}");
        Ok(made["id"].as_str().context("no id")?.to_owned())
    }

    /// The token of an attempt, once it was called and its executor is free of it.
    async fn token(&self, task: &str, attempt: u32) -> anyhow::Result<String> {
        poll::until_some("the call to be taken on", SOON, async || {
            let path = format!("/v1/tasks/{task}/explain");
            let told = self.customer.call("GET", &path, None, None).await.ok()?.1;
            let reason = &told["reasons"][0];
            let waits = reason["reason"] == "completion" && reason["attempt"] == attempt;
            let token =
                self.tokens.lock().await.get(&(task.to_owned(), attempt.to_string())).cloned();
            token.filter(|_| waits)
        })
        .await
    }

    async fn complete(&self, task: &str, body: Value) -> anyhow::Result<(u16, Value)> {
        self.customer.call("POST", &format!("/v1/tasks/{task}/complete"), Some(&body), None).await
    }

    async fn ended(&self, task: &str) -> anyhow::Result<Value> {
        let ended = async || {
            self.customer.get(task).await.ok().filter(|task| !task["finished_at"].is_null())
        };
        poll::until_some("the task to end", SOON, ended).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_wait_for_their_completion_without_an_executor_and_outlive_it() -> anyhow::Result<()> {
    let mut stage = Stage::start().await?;
    let mut tasks = Vec::new();
    for _ in 0..12 {
        tasks.push(stage.submit(json!({})).await?);
    }
    // One at a time has room, and all of them run.
    for task in &tasks {
        stage.token(task, 1).await?;
        assert_eq!(stage.customer.get(task).await?["state"], "running");
    }
    let executor = *stage.cluster.of(Role::Executor).first().context("an executor")?;
    stage.cluster.kill9(executor)?;
    stage.cluster.launch(executor)?;
    stage.cluster.ready(executor).await?;
    let noop = json!({"run": {"noop": {}}});
    let (_, noop) = stage.customer.call("POST", "/v1/tasks", Some(&noop), None).await?;
    assert_eq!(stage.ended(noop["id"].as_str().context("no id")?).await?["state"], "succeeded");
    for (number, task) in tasks.iter().enumerate() {
        let token = stage.token(task, 1).await?;
        let body = json!({"token": token, "outcome": "succeeded", "result": {"number": number}});
        let (status, done) = stage.complete(task, body.clone()).await?;
        assert_eq!((status, &done["repeated"]), (200, &json!(false)), "{done}");
        let (status, done) = stage.complete(task, body).await?;
        assert_eq!((status, &done["repeated"]), (200, &json!(true)), "{done}");
        let ended = stage.ended(task).await?;
        assert_eq!((&ended["state"], &ended["attempts"]), (&json!("succeeded"), &json!(1)));
        let path = format!("/v1/tasks/{task}/result");
        let result = stage.customer.call("GET", &path, None, None).await?;
        assert_eq!(result, (200, json!({"number": number})));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_retried_with_another_token_and_cap_and_cancel_end_what_nobody_completes()
-> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let retried = stage.submit(json!({})).await?;
    let first = stage.token(&retried, 1).await?;
    let failed = json!({"token": first, "outcome": "failed", "reason": "the disk is full"});
    assert_eq!(stage.complete(&retried, failed).await?.0, 200);
    let second = stage.token(&retried, 2).await?;
    assert_ne!(first, second);
    let late = json!({"token": first, "outcome": "succeeded"});
    let (status, problem) = stage.complete(&retried, late).await?;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    let other = stage.submit(json!({"execution_cap": "1s", "max_attempts": 1})).await?;
    let (status, problem) =
        stage.complete(&other, json!({"token": second, "outcome": "succeeded"})).await?;
    assert_eq!((status, &problem["code"]), (401, &json!("unauthenticated")), "{problem}");
    let aborted = json!({"token": second, "outcome": "aborted", "reason": "no such film"});
    assert_eq!(stage.complete(&retried, aborted).await?.0, 200);
    let ended = stage.ended(&retried).await?;
    assert_eq!((&ended["state"], &ended["reason"]), (&json!("aborted"), &json!("no such film")));

    let ended = stage.ended(&other).await?;
    assert_eq!(ended["state"], "killed", "{ended}");
    assert_eq!(ended["reason"], "was not completed within its execution cap of 1s");
    let cancelled = stage.submit(json!({})).await?;
    let token = stage.token(&cancelled, 1).await?;
    let path = format!("/v1/tasks/{cancelled}/cancel");
    assert_eq!(stage.customer.call("POST", &path, None, None).await?.0, 202);
    assert_eq!(stage.ended(&cancelled).await?["state"], "cancelled");
    let (status, _) =
        stage.complete(&cancelled, json!({"token": token, "outcome": "succeeded"})).await?;
    assert_eq!(status, 409);
    Ok(())
}
