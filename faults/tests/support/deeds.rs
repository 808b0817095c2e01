//! What is done so that a point is reached.

use e2e::{Cluster, Customer, Role};
use faults::{Operation, Point};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::OnceLock;
use std::time::Duration;
use testkit::poll;

const SOON: Duration = Duration::from_secs(10);

/// Ids, each with the state in which it must end.
pub type Tasks = Vec<(String, &'static str)>;

/// What was done before a point is attacked.
#[derive(Default)]
pub struct Begun {
    /// Processes that were killed and are to be started again.
    pub dead: Vec<usize>,
    pub submitted: Tasks,
}

/// Kills an executor in the middle of its work, where that is what `point` is about.
pub async fn begin(
    cluster: &mut Cluster,
    customer: Option<&Customer>,
    point: &Point,
    tag: &str,
) -> anyhow::Result<Begun> {
    let (Operation::Reap, Some(customer)) = (point.of, customer) else {
        return Ok(Begun::default());
    };
    let long = json!({"run": {"noop": {"sleep": "3s"}}});
    let id = customer.submit_until_answered(&long, &format!("{tag}-long")).await?;
    poll::until("the task to run", SOON, || async {
        customer.get(&id).await.is_ok_and(|task| task["state"] == "running")
    })
    .await?;
    let dead = cluster.of(Role::Executor);
    for at in &dead {
        cluster.kill9(*at)?;
    }
    Ok(Begun { dead, submitted: vec![(id, "succeeded")] })
}

/// Submits what reaches `point`, each again and again under one key until it is answered.
pub async fn submit(
    customer: Option<&Customer>,
    point: &Point,
    tag: &str,
) -> anyhow::Result<Tasks> {
    let Some(customer) = customer else { return Ok(Vec::new()) };
    if point.of == Operation::Release {
        let ids = customer.submit_batch(&parent_of_many(), tag).await?;
        return Ok(ids.into_iter().map(|id| (id, "succeeded")).collect());
    }
    if point.of == Operation::Workflow {
        return run_workflow(customer, point, tag).await;
    }
    let mut submitted = Vec::new();
    for (number, (task, ends)) in tasks(point)?.into_iter().enumerate() {
        let id = customer.submit_until_answered(&task, &format!("{tag}-{number}")).await?;
        submitted.push((id, ends));
    }
    Ok(submitted)
}

/// A parent with more children than the statement that ends it releases, and one that waits for some of them.
fn parent_of_many() -> Vec<Value> {
    let child = json!({"run": {"noop": {}}, "depends_on": ["root"]});
    let last: Vec<usize> = (1..=300).collect();
    let mut tasks = vec![json!({"ref": "root", "run": {"noop": {}}})];
    tasks.extend(std::iter::repeat_n(child, 501));
    tasks.push(json!({"run": {"noop": {}}, "depends_on": last}));
    tasks
}

/// Starts a run of each kind of node, and one that is cancelled where that is what `point` is about; the tasks of their nodes.
async fn run_workflow(customer: &Customer, point: &Point, tag: &str) -> anyhow::Result<Tasks> {
    let echo = |env: Value| json!({"run": {"command": {"argv": ["/bin/sh", "-c", "printf '{\"n\": %s}' \"$N\" > $BERTH_RESULT"], "env": {"N": env}}}});
    let definition = json!({"nodes": {
        "first": {"task": echo(json!("2"))},
        "value": {"after": ["first"], "task": echo(json!({"$from": "first", "pointer": "/n"}))},
        "skipped": {"after": ["first"], "if": {"$from": "first", "pointer": "/n", "gt": 2}, "task": echo(json!("0"))},
        "items": {"after": ["value"], "for_each": {"$input": "/list"}, "task": echo(json!({"$item": ""}))},
        "wait": {"after": ["items"], "wait": {"delay": "10ms"}},
        "missing": {"after": ["first"], "task": echo(json!({"$from": "first", "pointer": "/no"}))},
        "last": {"after": ["wait", {"node": "missing", "on": "failed"}, {"node": "skipped", "on": "skipped_ok"}], "task": {"run": {"noop": {}}}},
    }});
    let body = json!({"definition": definition, "input": {"list": [1, 2, 3]}});
    let ends = |node: &str| match node {
        "skipped" => "skipped",
        "missing" => "failed",
        _ => "succeeded",
    };
    let tasks = run(customer, &body, tag).await?;
    let mut submitted: Tasks = tasks.into_iter().map(|(node, id)| (id, ends(&node))).collect();
    if point.name == "scheduler.stop.committed" {
        let long = json!({"definition": {"nodes": {
            "runs": {"task": {"run": {"noop": {"sleep": "1h"}}}},
            "waits": {"after": [{"node": "runs", "on": "finished"}], "task": {"run": {"noop": {}}}},
        }}});
        let tasks = run(customer, &long, &format!("{tag}-long")).await?;
        let id = &tasks[0].1;
        let run = customer.get(id).await?["workflow_run"].as_str().unwrap_or_default().to_owned();
        let path = format!("/v1/workflow-runs/{run}/cancel");
        poll::until("the cancel to be answered", SOON, || async {
            customer.call("POST", &path, None, None).await.is_ok_and(|(status, _)| status < 300)
        })
        .await?;
        submitted.extend(tasks.into_iter().map(|(_, id)| (id, "cancelled")));
    }
    Ok(submitted)
}

/// Starts a run under one key until it is answered; its nodes, each with its task.
async fn run(
    customer: &Customer,
    body: &Value,
    tag: &str,
) -> anyhow::Result<Vec<(String, String)>> {
    let until = runtime::clock::monotonic() + Duration::from_secs(60);
    let id = loop {
        match customer.call("POST", "/v1/workflow-runs", Some(body), Some(tag)).await {
            Ok((201, run)) => break run["id"].as_str().unwrap_or_default().to_owned(),
            Ok((status, problem)) if status < 500 => anyhow::bail!("{status}: {problem}"),
            _ => anyhow::ensure!(runtime::clock::monotonic() < until, "a run was never answered"),
        }
    };
    let (_, graph) =
        customer.call("GET", &format!("/v1/workflow-runs/{id}/graph"), None, None).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    Ok(nodes.map(|node| (text(&node["name"]), text(&node["task"]))).collect())
}

fn tasks(point: &Point) -> anyhow::Result<Vec<(Value, &'static str)>> {
    Ok(match point.of {
        Operation::Execute => {
            let task = json!({"run": {"command": {"argv": ["/bin/true"]}}});
            vec![(task.clone(), "succeeded"), (task, "succeeded")]
        }
        Operation::Dispatch => {
            let later = json!({"run": {"noop": {}}, "delay": "200ms"});
            vec![
                (later.clone(), "succeeded"),
                (json!({"run": {"noop": {}}}), "succeeded"),
                (later, "succeeded"),
            ]
        }
        Operation::Complete => {
            let task = json!({"run": {"http": {"url": takes_calls_on()?, "complete": "callback"}}, "execution_cap": "500ms",
                "max_attempts": 1});
            (0..3).map(|_| (task.clone(), "killed")).collect()
        }
        Operation::LetGo => {
            // Refused by every executor of the default pool before a connection is made.
            let refused = json!({"run": {"http": {"method": "GET", "url": "http://127.0.0.1:9/"}}, "max_attempts": 2,
                "retry": {"backoff": "constant", "initial": "0s", "jitter": false}});
            (0..4).map(|_| (refused.clone(), "failed")).collect()
        }
        Operation::Submit
        | Operation::Place
        | Operation::Settle
        | Operation::Reap
        | Operation::Release
        | Operation::Workflow
        | Operation::Count
        | Operation::Fire
        | Operation::Start => {
            let noop = json!({"run": {"noop": {}}});
            (0..3).map(|_| (noop.clone(), "succeeded")).collect()
        }
    })
}

/// The URL of a server that answers every call with 202.
fn takes_calls_on() -> anyhow::Result<&'static str> {
    static URL: OnceLock<String> = OnceLock::new();
    if let Some(url) = URL.get() {
        return Ok(url);
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0)
            {
                head.extend(byte);
            }
            stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").ok();
        }
    });
    Ok(URL.get_or_init(|| url))
}
