//! What tasks return, through all of Berth: from a command's file and a server's answer to the API and the command line, also
//! where nobody could be told for a while and the executor died meanwhile.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use runtime::clock;
use runtime::tasks::TaskGroup;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(30);

/// Answers everything with this JSON.
async fn server(tasks: &TaskGroup, json: &'static str) -> anyhow::Result<String> {
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
            let kind = "Content-Type: application/json";
            let length = json.len();
            let answer =
                format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{json}");
            stream.write_all(answer.as_bytes()).await.ok();
            stream.shutdown().await.ok();
        }
    });
    Ok(url)
}

async fn submit(customer: &Customer, task: Value) -> anyhow::Result<String> {
    let (status, made) = customer.call("POST", "/v1/tasks", Some(&task), None).await?;
    anyhow::ensure!(status == 201, "submit answered {status}: {made}");
    Ok(made["id"].as_str().context("no id")?.to_owned())
}

fn command(script: &str) -> Value {
    json!({"run": {"command": {"argv": ["bash", "-c", script]}}, "max_attempts": 1})
}

async fn ended(customer: &Customer, id: &str) -> anyhow::Result<Value> {
    let task = async || customer.get(id).await.ok().filter(|task| !task["finished_at"].is_null());
    poll::until_some("the task to end", SOON, task).await
}

async fn result(customer: &Customer, id: &str) -> anyhow::Result<(u16, Value)> {
    customer.call("GET", &format!("/v1/tasks/{id}/result"), None, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_and_a_call_return_what_they_say_and_a_broken_result_says_why()
-> anyhow::Result<()> {
    let tasks = TaskGroup::new();
    let url = server(&tasks, "{\"from\": \"a server\"}").await?;
    let mut cluster = Cluster::start(Shape::default().with(Role::Executor, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let good = submit(&customer, command("echo '{\"rows\": [1, 2]}' > $BERTH_RESULT")).await?;
    let none = submit(&customer, command("true")).await?;
    let broken = submit(&customer, command("echo rows > $BERTH_RESULT")).await?;
    assert_eq!(ended(&customer, &good).await?["state"], "succeeded");
    assert_eq!(result(&customer, &good).await?, (200, json!({"rows": [1, 2]})));
    assert_eq!(ended(&customer, &none).await?["state"], "succeeded");
    let (status, problem) = result(&customer, &none).await?;
    assert_eq!((status, &problem["code"]), (404, &json!("no_result")), "{problem}");
    let task = ended(&customer, &broken).await?;
    assert_eq!((&task["state"], &task["exit_code"]), (&json!("failed"), &json!(0)), "{task}");
    let reason = "its result in $BERTH_RESULT is not JSON: expected value at line 1 column 1";
    assert_eq!(task["reason"], reason);
    assert_eq!(result(&customer, &broken).await?.0, 404);
    let waits = submit(&customer, json!({"run": {"noop": {}}, "delay": "1h"})).await?;
    let (status, problem) = result(&customer, &waits).await?;
    assert_eq!((status, &problem["code"]), (409, &json!("not_ended")), "{problem}");

    let inner = ["admin", "pool", "set", "inner", "--private-targets", "on", "--everyone", "on"];
    cluster.berth(&inner).await?;
    cluster.set("BERTH_EXECUTOR__POOL", "inner");
    cluster.join(Role::Executor).await?;
    // Its api processes learn of the pool within a moment.
    let call = json!({"run": {"http": {"url": url}}, "pool": "inner", "max_attempts": 1});
    let called = poll::until_some("the pool to be known", SOON, async || {
        submit(&customer, call.clone()).await.ok()
    })
    .await?;
    assert_eq!(ended(&customer, &called).await?["state"], "succeeded");
    assert_eq!(result(&customer, &called).await?, (200, json!({"from": "a server"})));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_nobody_could_be_told_outlives_the_executor_and_its_resource_manager()
-> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    // Without isolation, so that the test sees when the command has ended.
    let shape = shape.set("BERTH_EXECUTOR__ISOLATION", "none");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let manager = *cluster.of(Role::ResourceManager).first().context("a resource manager")?;
    let executor = *cluster.of(Role::Executor).first().context("an executor")?;
    let go = cluster.folder().join("go");
    let script =
        format!("until [ -e {} ]; do sleep 0.05; done; echo '[7]' > $BERTH_RESULT", go.display());
    let id = submit(&customer, command(&script)).await?;
    let runs = async || customer.get(&id).await.is_ok_and(|task| task["state"] == "running");
    poll::until("it to run", SOON, runs).await?;
    // Time to hear of its acceptance.
    clock::sleep(Duration::from_millis(300)).await;
    cluster.kill9(manager)?;
    std::fs::write(&go, "")?;
    clock::sleep(Duration::from_secs(1)).await;
    cluster.kill9(executor)?;
    cluster.launch(manager)?;
    cluster.ready(manager).await?;
    cluster.launch(executor)?;
    let task = ended(&customer, &id).await?;
    assert_eq!((&task["state"], &task["attempts"]), (&json!("succeeded"), &json!(1)), "{task}");
    assert_eq!(result(&customer, &id).await?, (200, json!([7])));
    Ok(())
}
