//! A paused pool, with real processes: what waits is handed out no more within a second, and goes on when it is resumed.

use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{poll, psql};

const HELD: &str = "select count(*) from task where state in ('queued', 'running', 'cancelling')";
const READY: &str = "select count(*) from task where state = 'ready'";

fn noop(sleep: &str) -> Value {
    json!({ "run": { "noop": { "sleep": sleep } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_pool_starts_nothing_of_its_backlog_and_goes_on_when_it_is_resumed()
-> anyhow::Result<()> {
    let shape = Shape::default().with(Role::Api, 1).with(Role::ResourceManager, 1);
    let cluster = Cluster::start(shape.with(Role::Executor, 1)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let url = cluster.database().owner_url().to_owned();
    let count = async |sql: &str| psql::number(&url, sql).await;

    customer.submit_batch(&vec![noop("200ms"); 2000], "backlog").await?;
    let runs = async || count(HELD).await.is_ok_and(|held| held > 20);
    poll::until("tasks to run", Duration::from_secs(10), runs).await?;
    cluster.berth(&["admin", "pool", "pause", "default", "--because", "a new kernel"]).await?;
    let paused = clock::monotonic();
    let (status, taken) = customer.call("POST", "/v1/tasks", Some(&noop("0s")), None).await?;
    assert_eq!((status, taken["state"].as_str()), (201, Some("ready")), "{taken}");
    let ended = async || count(HELD).await.is_ok_and(|held| held == 0);
    poll::until("what ran to end", Duration::from_secs(10), ended).await?;
    clock::sleep_until(paused + Duration::from_secs(3)).await;
    assert_eq!(count(HELD).await?, 0);
    let waiting = count(READY).await?;
    assert!(waiting > 500, "{waiting} wait, and all the room is free");
    let late = "select count(*) from attempt a, pool p where a.placed_at > p.paused_at + interval '1.5 seconds'";
    assert_eq!(count(late).await?, 0, "placed though the pool was paused");

    cluster.berth(&["admin", "pool", "resume", "default"]).await?;
    let resumed = clock::monotonic();
    let goes_on = async || count(READY).await.is_ok_and(|ready| ready < waiting);
    poll::until("the backlog to go on", Duration::from_secs(5), goes_on).await?;
    eprintln!("{waiting} tasks waited; they went on {:?} after the word", resumed.elapsed());
    Oracle::of(&cluster).drained(Duration::from_secs(60)).await
}
