//! Executors that give back whatever they are given: they cost little, and nobody beside them.

use super::executor::{Hostile, POOL, hello};
use super::{SOON, submit};
use e2e::{Cluster, Customer, Oracle, Role, Shape, sum};
use protocol::result::Outcome;
use protocol::{Capacity, Hello};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::poll;

/// For how long one task is offered to an executor that refuses it.
const OFFERED: Duration = Duration::from_secs(6);
/// How often it may be, in that time.
const MOST_OFFERS: i64 = 20;
/// By then all tasks beside it are done.
const DONE: Duration = Duration::from_secs(15);

/// One task and nobody else to run it.
async fn alone(cluster: &Cluster, customer: &Customer) -> anyhow::Result<i64> {
    let mut refusing = Hostile::connect(cluster, hello("refuses-alone")).await?;
    submit(customer, &json!({ "run": { "noop": {} }, "pool": POOL })).await?;
    let refused = clock::timeout(OFFERED, refusing.end_all(Outcome::NotStarted)).await;
    assert!(refused.is_err(), "{refused:?}");
    Oracle::of(cluster).number("select count(*) from attempt where pool = 'hostile'").await
}

/// Beside one that works as it should, which ends all of it.
async fn beside(
    cluster: &mut Cluster,
    customer: &Customer,
    outcome: Outcome,
) -> anyhow::Result<Duration> {
    let name = if outcome == Outcome::NotStarted { "refuses" } else { "hands-back" };
    // Room for eight tasks: what leaves the least room free is chosen first, and that is here.
    let capacity = hello(name).capacity.map(|has| Capacity {
        cpu_millis: has.cpu_millis / 8,
        memory_mib: has.memory_mib / 8,
        disk_mib: has.disk_mib / 8,
        iops: has.iops / 8,
        port_count: has.port_count / 8,
        ..has
    });
    let greeting = Hello { pool: "default".to_owned(), capacity, ..hello(name) };
    let mut hostile = Hostile::connect(cluster, greeting).await?;
    let tasks = vec![json!({ "run": { "noop": { "sleep": "20ms" } }, "name": name }); 40];
    let began = clock::monotonic();
    customer.submit_batch(&tasks, name).await?;
    let oracle = Oracle::of(cluster);
    let ended = poll::until("all are done", SOON, || async {
        oracle.number("select count(*) from task where pool = 'default'").await.ok() == Some(0)
    });
    tokio::select! {
        refused = hostile.end_all(outcome) => anyhow::bail!("{name}: {refused:?}"),
        ended = ended => ended?,
    }
    let took = began.elapsed();
    // It is still connected.
    until_quarantined(cluster, name).await?;
    Ok(took)
}

/// In quarantine where it is connected, and stored so for the doctor.
async fn until_quarantined(cluster: &mut Cluster, name: &str) -> anyhow::Result<()> {
    let stored = format!(
        "select count(*) from executor_session where executor_id = '{name}' and quarantined_at is not null"
    );
    let oracle = Oracle::of(cluster);
    let is_stored = || async { oracle.number(&stored).await.is_ok_and(|rows| rows >= 1) };
    poll::until("the quarantine is stored", SOON, is_stored).await?;
    let quarantined = "berth_executors_quarantined";
    let quarantined = sum(cluster, Role::ResourceManager, quarantined, &[]).await?;
    anyhow::ensure!(quarantined >= 1.0, "{name}: {quarantined}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_gives_back_all_draws_no_work_to_itself() -> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let shape = shape.set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "2m");
    let mut cluster = Cluster::start(shape).await?;
    cluster.berth(&["admin", "pool", "set", POOL, "--everyone", "on"]).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let probe = json!({ "run": { "noop": {} }, "pool": POOL, "delay": "1h" });
    poll::until("the pool is known", SOON, || async { submit(&customer, &probe).await.is_ok() })
        .await?;
    let offers = alone(&cluster, &customer).await?;
    eprintln!("{offers} offers of one task in {OFFERED:?}");
    assert!((2..=MOST_OFFERS).contains(&offers), "{offers} offers");
    for outcome in [Outcome::NotStarted, Outcome::HandedBack] {
        let took = beside(&mut cluster, &customer, outcome).await?;
        eprintln!("40 tasks beside {outcome:?}: {took:?}");
        assert!(took < DONE, "40 tasks took {took:?} beside {outcome:?}");
    }
    let quarantines = "berth_executor_quarantines_total";
    assert!(sum(&mut cluster, Role::ResourceManager, quarantines, &[]).await? >= 1.0);
    let succeeded =
        "select count(*) from task_history where state = 'succeeded' and pool = 'default'";
    assert_eq!(Oracle::of(&cluster).number(succeeded).await?, 80);
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
