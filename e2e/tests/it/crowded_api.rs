//! Many clients ask for what costs the database most: executors are heard all the same, and no lease is lost by it.

use e2e::{Cluster, Customer, Oracle, Role, Shape, page};
use futures::future::join_all;
use runtime::clock;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use testkit::{fill, psql};

const CLIENTS: usize = 50;
/// Every task of a month, and none fits: each page reads all that the API lets a request read.
const HEAVIEST: &str = "/v1/tasks?limit=200&label=no=such&name=nothing";
/// 99 of 100 heartbeats are answered within this; it is a bound of the metric's buckets.
const ANSWERED: &str = "0.25";

/// Heartbeats answered in time, and all, at every executor.
async fn heartbeats(cluster: &mut Cluster) -> anyhow::Result<(f64, f64)> {
    let (mut in_time, mut all) = (0.0, 0.0);
    for at in cluster.of(Role::Executor) {
        let (_, metrics) = page(cluster, at, "/metrics").await?;
        let of = |start: &str| -> f64 {
            let samples = metrics.lines().filter(|line| line.starts_with(start));
            samples.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
        };
        in_time += of(&format!("berth_executor_heartbeat_seconds_bucket{{le=\"{ANSWERED}\"}}"));
        all += of("berth_executor_heartbeat_seconds_count");
    }
    Ok((in_time, all))
}

async fn crowd(tasks: u64, lasting: Duration) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default().with(Role::Scheduler, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let url = cluster.database().owner_url().to_owned();
    customer.submit_until_answered(&json!({ "run": { "noop": {} } }), "model").await?;
    Oracle::of(&cluster).drained(Duration::from_secs(10)).await?;
    let model = psql::run(&url, "select id from task_history").await?;
    fill::ended(&url, &model, tasks).await?;

    // Held all the time: what a lapse would end.
    let long = json!({ "run": { "noop": { "sleep": format!("{}s", lasting.as_secs() + 2) } }, "execution_cap": "10m" });
    customer.submit_batch(&vec![long; 30], "long").await?;
    let before = heartbeats(&mut cluster).await?;
    let (stop, pages, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let client = async || {
        while !stop.load(Ordering::Relaxed) {
            match customer.call("GET", HEAVIEST, None, None).await? {
                (200, _) => pages.fetch_add(1, Ordering::Relaxed),
                // Too many at once: it says when to ask again.
                (503 | 429, _) => {
                    clock::sleep(Duration::from_millis(50)).await;
                    refused.fetch_add(1, Ordering::Relaxed)
                }
                (status, answer) => anyhow::bail!("{status}: {answer}"),
            };
        }
        Ok(())
    };
    let (asked, ()) = tokio::join!(join_all((0..CLIENTS).map(|_| client())), async {
        clock::sleep(lasting).await;
        stop.store(true, Ordering::Relaxed);
    });
    asked.into_iter().collect::<anyhow::Result<Vec<()>>>()?;
    let after = heartbeats(&mut cluster).await?;
    let (in_time, all) = (after.0 - before.0, after.1 - before.1);
    eprintln!(
        "{} pages and {} refusals in {lasting:?}; {in_time} of {all} heartbeats were answered within 250 ms",
        pages.load(Ordering::Relaxed),
        refused.load(Ordering::Relaxed)
    );
    assert!(pages.load(Ordering::Relaxed) > 0, "no page was ever answered");
    assert!(all >= 3.0 * lasting.as_secs_f64() / 2.0, "only {all} heartbeats");
    // Of fewer than a hundred one may be late.
    assert!(all - in_time <= (all / 100.0).max(1.0), "only {in_time} of {all} in time");
    let oracle = Oracle::of(&cluster);
    oracle.drained(lasting + Duration::from_secs(20)).await?;
    assert_eq!(
        oracle.number("select count(*) from attempt where outcome <> 'succeeded'").await?,
        0
    );
    assert_eq!(
        oracle.number("select count(*) from executor_session where end_reason is not null").await?,
        0
    );
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

mod alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_clients_of_the_heaviest_list_cost_no_executor_its_lease() -> anyhow::Result<()> {
        crowd(20_000, Duration::from_secs(5)).await
    }
}

mod chaos {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_clients_of_the_heaviest_list_for_a_minute_cost_no_executor_its_lease()
    -> anyhow::Result<()> {
        crowd(200_000, Duration::from_secs(60)).await
    }
}
