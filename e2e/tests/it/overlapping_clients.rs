//! Many clients cancel the same tasks while executors end them and retries come due: nobody is told of an error of ours, and what
//! each was told is what happened.

use e2e::{Cluster, Customer, Oracle, Shape};
use futures::future::join_all;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const CLIENTS: usize = 64;

/// What a cancel was answered: the task, the status, what it did.
type Told = (String, u16, String);

async fn cancel_all(customer: &Customer, ids: Vec<String>) -> anyhow::Result<Vec<Told>> {
    let mut answers = Vec::new();
    for id in ids {
        let path = format!("/v1/tasks/{id}/cancel");
        let (status, answer) = customer.call("POST", &path, None, None).await?;
        answers.push((id, status, answer["cancel"].as_str().unwrap_or_default().to_owned()));
    }
    Ok(answers)
}

/// A third wait, a third run, a third fail again and again.
fn task(number: usize) -> Value {
    match number % 3 {
        0 => json!({ "run": { "noop": { "sleep": "0s" } }, "delay": "2s" }),
        1 => json!({ "run": { "noop": { "sleep": format!("{}ms", number * 7 % 3000) } } }),
        _ => json!({ "run": { "command": { "argv": ["false"] } }, "max_attempts": 10,
            "retry": { "backoff": "constant", "initial": "100ms", "jitter": true } }),
    }
}

async fn overlap(tasks: usize, each: usize) -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let all: Vec<Value> = (0..tasks).map(task).collect();
    let ids = customer.submit_batch(&all, "all").await?;
    let clients = (0..CLIENTS).map(|_| {
        let mut some = ids.clone();
        some.shuffle(&mut rand::rng());
        some.truncate(each);
        cancel_all(&customer, some)
    });
    let answers: Vec<Told> =
        join_all(clients).await.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(30)).await?;
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
    assert_eq!(oracle.number("select count(*) from task_history").await?, i64::try_from(tasks)?);

    let rows = oracle
        .rows("select 'task_' || replace(id::text, '-', ''), state from task_history")
        .await?;
    let ended: BTreeMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.first()?.as_str(), row.get(1)?.as_str()))).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (id, status, done) in &answers {
        let state = ended.get(id.as_str()).copied().unwrap_or("missing");
        *counts.entry(format!("{status} {done}, ends {state}")).or_default() += 1;
        let kept = match done.as_str() {
            "cancelled" => state == "cancelled",
            "requested" | "already_requested" => matches!(state, "cancelled" | "succeeded"),
            "already_ended" => matches!(state, "cancelled" | "succeeded" | "failed"),
            _ => false,
        };
        if !kept || !matches!(status, 200 | 202) {
            wrong.push(format!("{id}: {status} {done}, and it ended {state}"));
        }
    }
    eprintln!("{} cancels of {tasks} tasks by {CLIENTS} clients: {counts:#?}", answers.len());
    assert_eq!(wrong, Vec::<String>::new());
    let ended_anyhow = counts.keys().any(|what| what.contains("already_ended"));
    assert!(ended_anyhow, "nobody came too late: there was no race");
    let undone = "select deadlocks from pg_stat_database where datname = current_database()";
    eprintln!("{} deadlocks were broken on the way", oracle.number(undone).await?);
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_that_cancel_the_same_tasks_are_told_the_truth() -> anyhow::Result<()> {
    overlap(90, 30).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn sixty_four_clients_that_cancel_two_hundred_of_the_same_tasks_are_told_the_truth()
    -> anyhow::Result<()> {
        super::overlap(300, 200).await
    }
}
