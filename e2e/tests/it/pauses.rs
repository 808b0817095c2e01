//! A paused pool, with real processes: what waits is handed out no more within a second, and goes on when it is resumed.

use e2e::{Cluster, Customer, Oracle, Role, Shape, sum};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::proxy::{Mode, Proxy};
use testkit::services::TestBroker;
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

/// The batcher knows the terms of tenants and pools by heart for a while, and the broker may be away for longer.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_while_the_broker_is_away_starts_nothing_when_it_is_back()
-> anyhow::Result<()> {
    let broker = TestBroker::new().await?;
    let address = broker.url().rsplit('@').next().and_then(|rest| rest.split('/').next());
    let proxy = Proxy::start(address.unwrap_or_default()).await?;
    let through = proxy.url(broker.url())?;
    let shape = Shape::default().with(Role::Api, 1).with(Role::ResourceManager, 1);
    let shape = shape.with(Role::Scheduler, 1).with(Role::Executor, 1);
    let mut cluster = Cluster::on(shape, TestDatabase::new().await?, broker, Some(through)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    // The batcher has handed out once: it knows the pool.
    let first = customer.submit_until_answered(&noop("0s"), "first").await?;
    let url = cluster.database().owner_url().to_owned();
    let count = async |sql: &str| psql::number(&url, sql).await;
    let ended = async || count("select count(*) from task_history").await.is_ok_and(|n| n == 1);
    poll::until("the first to end", Duration::from_secs(10), ended).await?;

    proxy.set(Mode::Reset);
    connection(&mut cluster, false).await?;
    cluster.berth(&["admin", "pool", "pause", "default", "--because", "a fire"]).await?;
    customer.submit_batch(&vec![noop("0s"); 20], "backlog").await?;
    clock::sleep(Duration::from_secs(2)).await;
    proxy.set(Mode::Pass);
    connection(&mut cluster, true).await?;
    clock::sleep(Duration::from_secs(1)).await;
    let later = format!("select count(*) from attempt where task_id <> '{}'", bare(&first));
    assert_eq!(count(&later).await?, 0, "started though the pool was paused");
    assert_eq!(count("select count(*) from task where dispatch_epoch > 0").await?, 0);

    cluster.berth(&["admin", "pool", "resume", "default"]).await?;
    Oracle::of(&cluster).drained(Duration::from_secs(30)).await?;
    assert_eq!(count(&later).await?, 20);
    Ok(())
}

/// Waits until the scheduler is connected to the broker, or is not.
async fn connection(cluster: &mut Cluster, wanted: bool) -> anyhow::Result<()> {
    let until = clock::monotonic() + Duration::from_secs(20);
    while (sum(cluster, Role::Scheduler, "berth_bus_connection_state", &[]).await? > 0.0) != wanted
    {
        anyhow::ensure!(clock::monotonic() < until, "connected: {wanted}, not after 20 s");
        clock::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn bare(id: &str) -> &str {
    id.trim_start_matches("task_")
}
