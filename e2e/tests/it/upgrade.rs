//! From the release before to this one and back, one process at a time, while customers submit.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape, Steady};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::services::TestBroker;
use testkit::settings;

const PER_SECOND: u32 = 200;
/// The longest that an orderly end may take.
const GRACE: Duration = Duration::from_secs(40);
const SOON: Duration = Duration::from_secs(60);
/// 99 of 100 submits are answered within this.
const P99: Duration = Duration::from_secs(1);

/// Ends each process in turn and starts it again, of the programs that the cluster uses now.
async fn roll(cluster: &mut Cluster) -> anyhow::Result<()> {
    // In the order of docs/upgrade.md.
    for role in [Role::Api, Role::Scheduler, Role::ResourceManager, Role::Executor] {
        for at in cluster.of(role) {
            let process = cluster.process(at)?;
            process.term()?;
            let status = process.wait(GRACE).await?;
            anyhow::ensure!(status.success(), "{role:?} ended with {status}: {}", process.log());
            cluster.launch(at)?;
            cluster.ready(at).await?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the programs of the release before: scripts/upgrade-test"]
async fn customers_do_not_see_an_upgrade_nor_the_way_back() -> anyhow::Result<()> {
    let before = settings::release_before().context("BERTH_TEST_RELEASE_BEFORE is not set")?;
    let broker = TestBroker::new().await?;
    let shape = Shape::default()
        .with(Role::Executor, 2)
        .of_programs(&before)
        .set_for_operators("BERTH_BUS__URL", broker.url())
        .set_for_operators("BERTH_BUS__QUEUE_PREFIX", broker.queue_prefix());
    let idle = Role::ALL.into_iter().fold(shape.clone(), |shape, role| shape.with(role, 0));
    let database = TestDatabase::unmigrated().await?;
    let at = TestDatabase::at(database.owner_url())?;
    Cluster::on(idle, at, TestBroker::new().await?, None).await?.berth(&["migrate"]).await?;
    let mut cluster = Cluster::on(shape, database, broker, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let each_second = json!({ "timing": { "specs": [{ "every": { "every": "1s" } }] },
        "overlap": "allow", "task": { "run": { "noop": {} } } });
    let (status, made) = customer.call("PUT", "/v1/schedules/s", Some(&each_second), None).await?;
    anyhow::ensure!(status == 201, "{status}: {made}");

    let task = json!({ "run": { "noop": { "sleep": "30ms" } }, "max_attempts": 2 });
    let began = clock::monotonic();
    let upgrade = async {
        clock::sleep(Duration::from_secs(3)).await;
        cluster.use_programs(None)?;
        cluster.berth(&["migrate"]).await?;
        roll(&mut cluster).await?;
        eprintln!("upgraded after {:?}", began.elapsed());
        cluster.use_programs(Some(before.clone()))?;
        roll(&mut cluster).await?;
        eprintln!("back after {:?}", began.elapsed());
        cluster.use_programs(None)?;
        roll(&mut cluster).await
    };
    let steady = Steady { per_second: PER_SECOND, task };
    let ((), mut seen) = steady.during(&customer, upgrade).await?;
    let p99 = seen.p99(began, clock::monotonic())?;
    // A balancer would not have asked a process that is not ready.
    let (refused, faults): (Vec<_>, Vec<_>) =
        seen.faults().into_iter().partition(|fault| fault.contains("tcp connect error"));
    let submits = seen.submitted.all.len();
    eprintln!(
        "{submits} submits in {:?}, p99 {p99:?}; {} refused by a process that had ended",
        began.elapsed(),
        refused.len()
    );
    assert_eq!(faults, Vec::<&str>::new());
    assert!(p99 <= P99, "{p99:?}");

    let (status, _) = customer.call("DELETE", "/v1/schedules/s", None, None).await?;
    assert_eq!(status, 200);
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    let fired = cluster
        .database()
        .sql("select task_id from schedule_fire where task_id is not null")
        .await?;
    for id in fired.lines() {
        seen.submitted.all.push(domain::id::TaskId(id.parse()?).to_string());
    }
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    assert_eq!(oracle.violations(&seen.submitted, &ledger).await?, Vec::<String>::new());
    let burnt = "select count(*) from attempt where outcome = 'lost' or (charged and outcome <> 'succeeded')";
    assert_eq!(oracle.number(burnt).await?, 0, "attempts burnt by an upgrade");
    let missed = "select count(*) from (select due_at - lag(due_at) over (order by due_at) as gap from schedule_fire) f where gap > '1s'";
    assert_eq!(oracle.number(missed).await?, 0, "due times without an outcome");
    cluster.berth(&["doctor"]).await?;
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}
