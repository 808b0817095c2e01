//! Cancels that race the start and the end of their task: the answer says what was done, and what is cancelled does not run on.

use e2e::{Cluster, Customer, Mix, Oracle, Shape, now_ns};
use rand::RngExt;
use runtime::clock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::ledger::Ledger;
use tokio::task::JoinSet;

const WORK: Duration = Duration::from_millis(100);
/// `BERTH_RESOURCE_MANAGER__KILL_GRACE` of [`Shape::default`].
const GRACE_NS: i64 = 1_000_000_000;

/// What the API answered to a cancel, and when.
struct Cancelled {
    id: String,
    done: String,
    acked_ns: i64,
}

async fn submit_and_cancel(
    customer: &Customer,
    task: &Value,
    number: usize,
) -> anyhow::Result<Cancelled> {
    let id = customer.submit_until_answered(task, &format!("task-{number}")).await?;
    let pause = Duration::from_micros(rand::rng().random_range(0..200_000));
    clock::sleep(pause).await;
    let (status, answer) =
        customer.call("POST", &format!("/v1/tasks/{id}/cancel"), None, None).await?;
    let acked_ns = now_ns()?;
    anyhow::ensure!(matches!(status, 200 | 202), "a cancel answered {status}: {answer}");
    let done = answer["cancel"].as_str().unwrap_or("nothing").to_owned();
    Ok(Cancelled { id, done, acked_ns })
}

async fn race(tasks: usize, clients: usize) -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Arc::new(Customer::sign_up(&cluster, "acme").await?);
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let task = Mix { commands: 10, fail_once_percent: 0, work: WORK }.task(9, &ledger)?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut racing = JoinSet::new();
    for _ in 0..clients {
        let (customer, task, next) = (Arc::clone(&customer), task.clone(), Arc::clone(&next));
        racing.spawn(async move {
            let mut answers = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= tasks {
                    return Ok::<_, anyhow::Error>(answers);
                }
                answers.push(submit_and_cancel(&customer, &task, number).await?);
            }
        });
    }
    let mut answers = Vec::new();
    while let Some(some) = racing.join_next().await {
        answers.extend(some??);
    }
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(30)).await?;
    assert_eq!(oracle.tables().await?, Vec::<String>::new());
    assert_eq!(usize::try_from(oracle.number("select count(*) from task_history").await?)?, tasks);

    let ended = cluster
        .database()
        .sql("select 'task_' || replace(id::text, '-', '') || ' ' || state from task_history")
        .await?;
    let ended: BTreeMap<&str, &str> =
        ended.lines().filter_map(|line| line.split_once(' ')).collect();
    let runs = ledger.runs()?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Cancelled { id, done, acked_ns } in &answers {
        let state = ended.get(id.as_str()).copied().unwrap_or("missing");
        *counts.entry(format!("{done}, ends {state}")).or_default() += 1;
        let possible = match done.as_str() {
            "cancelled" => state == "cancelled",
            "requested" => matches!(state, "cancelled" | "succeeded"),
            "already_ended" => state == "succeeded",
            _ => false,
        };
        if !possible {
            wrong.push(format!("{id}: the cancel said `{done}`, and it ended {state}"));
        }
        let of_task = runs.of(id);
        if done == "cancelled" && !of_task.is_empty() {
            wrong.push(format!("{id}: cancelled before it started, and it ran"));
        }
        let latest = of_task.iter().filter_map(|run| run.ended_ns).max();
        if state == "cancelled" && latest.is_some_and(|end| end > acked_ns + GRACE_NS) {
            wrong.push(format!(
                "{id}: ran on for {} ns after its cancel",
                latest.unwrap_or(0) - acked_ns
            ));
        }
        if state == "succeeded" && latest.is_none() {
            wrong.push(format!("{id}: succeeded without coming to its end"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let overbilled = "select count(*) from attempt where usage_ms > extract(epoch from ended_at - placed_at) * 1000 + 1";
    assert_eq!(oracle.number(overbilled).await?, 0, "billed beyond the kill");
    let raced = |what: &str| counts.keys().any(|count| count.starts_with(what));
    assert!(
        raced("requested") && (raced("cancelled") || raced("already_ended")),
        "nothing raced: {counts:?}"
    );
    eprintln!("{counts:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_does_not_run_on() -> anyhow::Result<()> {
    race(300, 8).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn of_two_thousand_cancelled_tasks_none_runs_on() -> anyhow::Result<()> {
        super::race(2000, 16).await
    }
}
