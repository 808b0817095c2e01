//! HTTP tasks through all of Berth: what a server asks for reaches the task's next attempt, and a pool's policy its
//! executors.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use runtime::clock::{self, Instant};
use runtime::tasks::TaskGroup;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(3);

type Heard = Arc<Mutex<Vec<(Instant, String)>>>;

/// Says 503 to the first request for `/busy`, and 200 to everything else.
async fn server(tasks: &TaskGroup) -> anyhow::Result<(String, Heard)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let heard: Heard = Arc::default();
    let all = Arc::clone(&heard);
    tasks.spawn_detached("server", async move {
        let mut busy = true;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let refuse = head.starts_with("GET /busy") && std::mem::take(&mut busy);
            let answer = if refuse {
                format!(
                    "HTTP/1.1 503 Busy\r\nRetry-After: {}\r\nContent-Length: 4\r\n\r\nbusy",
                    WAIT.as_secs()
                )
            } else {
                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone".to_owned()
            };
            if let Ok(mut all) = all.lock() {
                all.push((clock::monotonic(), head));
            }
            stream.write_all(answer.as_bytes()).await.ok();
            stream.shutdown().await.ok();
        }
    });
    Ok((url, heard))
}

async fn ended(customer: &Customer, task: &Value) -> anyhow::Result<Value> {
    let (status, made) = customer.call("POST", "/v1/tasks", Some(task), None).await?;
    anyhow::ensure!(status == 201, "submit answered {status}: {made}");
    let id = made["id"].as_str().context("no id")?.to_owned();
    let until = clock::monotonic() + SOON;
    loop {
        let now = customer.get(&id).await?;
        if !now["finished_at"].is_null() {
            return Ok(now);
        }
        anyhow::ensure!(clock::monotonic() < until, "it does not end: {now}");
        clock::sleep(Duration::from_millis(50)).await;
    }
}

fn of<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_called_again_when_it_asked_for_it() -> anyhow::Result<()> {
    let tasks = TaskGroup::new();
    let (url, heard) = server(&tasks).await?;
    let mut cluster = Cluster::start(Shape::default().with(Role::Executor, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;

    // The default pool reaches public addresses only.
    let refused =
        ended(&customer, &json!({"run": {"http": {"url": format!("{url}/never")}}})).await?;
    assert_eq!(refused["state"], "failed", "{refused}");
    let reason = refused["reason"].as_str().context("no reason")?;
    assert!(reason.contains("its address is loopback"), "{reason}");
    assert!(heard.lock().is_ok_and(|heard| heard.is_empty()));

    cluster
        .berth(&["admin", "pool", "set", "inner", "--private-targets", "on", "--everyone", "on"])
        .await?;
    cluster.set("BERTH_EXECUTOR__POOL", "inner");
    cluster.join(Role::Executor).await?;
    let task = json!({"run": {"http": {"url": format!("{url}/busy")}}, "pool": "inner", "max_attempts": 2,
        "retry": {"backoff": "constant", "initial": "0s", "jitter": false}});
    let done = until_known(&customer, &task).await?;
    assert_eq!((&done["state"], &done["exit_code"]), (&json!("succeeded"), &json!(200)), "{done}");
    assert_eq!((&done["attempts"], &done["failures"]), (&json!(2), &json!(1)), "{done}");

    let heard = heard.lock().map(|heard| heard.clone()).unwrap_or_default();
    let [(first, one), (second, two)] = &heard[..] else { anyhow::bail!("{heard:?}") };
    let between = *second - *first;
    assert!(between >= WAIT && between < WAIT + Duration::from_secs(10), "{between:?}");
    assert_eq!([of(one, "Berth-Attempt"), of(two, "Berth-Attempt")], [Some("1"), Some("2")]);
    assert_eq!(of(one, "Idempotency-Key"), done["id"].as_str());
    assert_eq!(of(two, "Idempotency-Key"), done["id"].as_str());
    for head in [one, two] {
        // The retry came later, and is for the same due time.
        assert_eq!(of(head, "Berth-Due-At"), done["due_at"].as_str());
        assert_eq!(of(head, "Berth-Schedule"), None);
    }
    assert_ne!(done["run_at"], done["due_at"]);
    // One trace, another span for each request.
    let trace =
        |head: &str| of(head, "Traceparent").and_then(|trace| trace.get(..36).map(str::to_owned));
    assert!(trace(one).is_some() && trace(one) == trace(two), "{one} {two}");
    assert_ne!(of(one, "Traceparent"), of(two, "Traceparent"));

    let id = done["id"].as_str().context("no id")?;
    let (_, attempts) =
        customer.call("GET", &format!("/v1/tasks/{id}/attempts"), None, None).await?;
    let failed = attempts["data"].as_array().context("no attempts")?;
    let failed = failed.iter().find(|one| one["attempt"] == 1);
    let failed = failed.with_context(|| format!("no first attempt in {attempts}"))?;
    assert_eq!((&failed["exit_code"], &failed["reason"]), (&json!(503), &json!("answered 503")));
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// The api processes look at the list of pools now and then: a new one may be unknown for a moment.
async fn until_known(customer: &Customer, task: &Value) -> anyhow::Result<Value> {
    let until = clock::monotonic() + SOON;
    loop {
        match ended(customer, task).await {
            Err(error) if error.to_string().contains("/pool") && clock::monotonic() < until => {
                clock::sleep(Duration::from_millis(100)).await;
            }
            ended => return ended,
        }
    }
}
