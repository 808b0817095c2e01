//! Cancels that race the start and the end of their task: the answer says what was done, and what is cancelled does not run on.

use e2e::{Cluster, Customer, Mix, Oracle, Shape, now_ns};
use rand::RngExt;
use runtime::clock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::ledger::{Ledger, Runs};
use tokio::task::JoinSet;

const WORK: Duration = Duration::from_millis(100);
/// `BERTH_RESOURCE_MANAGER__KILL_GRACE` of [`Shape::default`].
const GRACE_NS: i64 = 1_000_000_000;
/// Between a command's last line and the moment its executor knows of its end, on a busy machine.
const REAPED_NS: i64 = 250_000_000;

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
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
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
    assert_eq!(misbilled(&oracle, &runs, &answers).await?, Vec::<String>::new());
    let raced = |what: &str| counts.keys().any(|count| count.starts_with(what));
    assert!(
        raced("requested") && (raced("cancelled") || raced("already_ended")),
        "nothing raced: {counts:?}"
    );
    eprintln!("{counts:?}");
    Ok(())
}

/// Holds each charged attempt's bill against what its command wrote down: no less than it worked, and, from the lease's
/// beginning, no longer than to its end or to the kill.
async fn misbilled(
    oracle: &Oracle<'_>,
    runs: &Runs,
    answers: &[Cancelled],
) -> anyhow::Result<Vec<String>> {
    let acked: BTreeMap<&str, i64> = answers.iter().map(|a| (a.id.as_str(), a.acked_ns)).collect();
    let bills = oracle
        .rows(
            "select 'task_' || replace(task_id::text, '-', ''), attempt, usage_ms,
                (extract(epoch from placed_at) * 1000000)::bigint, (extract(epoch from ended_at - placed_at) * 1000)::bigint
            from attempt where charged",
        )
        .await?;
    let (mut wrong, mut late_ms) = (Vec::new(), Vec::new());
    for bill in &bills {
        let [id, numbers @ ..] = bill.as_slice() else { anyhow::bail!("an empty row") };
        let numbers = numbers.iter().map(|n| n.parse()).collect::<Result<Vec<i64>, _>>()?;
        let &[attempt, usage_ms, placed_us, lease_ms] = numbers.as_slice() else {
            anyhow::bail!("{bill:?} is no bill");
        };
        // The statement that ends a lease cuts the bill to the lease's length: only an executor that told too much is cut.
        if usage_ms >= lease_ms {
            wrong.push(format!("{id}: billed {usage_ms} ms, all of a lease of {lease_ms} ms"));
        }
        // One that was killed before its first line left no stamp.
        let of_task = runs.of(id).iter().find(|run| i64::from(run.attempt) == attempt);
        let Some(run) = of_task else { continue };
        // Both clocks were read at the start.
        let placed_ns = placed_us * 1000 - (run.started_wall_ns - run.started_ns);
        let until_ns = match run.ended_ns {
            Some(ended_ns) => {
                let worked_ms = (ended_ns - run.started_ns) / 1_000_000;
                if usage_ms < worked_ms {
                    wrong.push(format!("{id}: billed {usage_ms} ms of {worked_ms} ms of work"));
                }
                late_ms.push(usage_ms - worked_ms);
                ended_ns + REAPED_NS
            }
            None => acked.get(id.as_str()).copied().unwrap_or(i64::MAX) + GRACE_NS,
        };
        let longest_ms = (until_ns - placed_ns) / 1_000_000;
        if usage_ms > longest_ms {
            wrong.push(format!("{id}: billed {usage_ms} ms, and it was over after {longest_ms}"));
        }
    }
    late_ms.sort_unstable();
    anyhow::ensure!(!late_ms.is_empty(), "no command came to its end: nothing was compared");
    eprintln!(
        "{} bills; of {} commands that ended, the bill was longer than the work by {} ms in the middle, {} ms at most",
        bills.len(),
        late_ms.len(),
        late_ms[late_ms.len() / 2],
        late_ms[late_ms.len() - 1]
    );
    Ok(wrong)
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
