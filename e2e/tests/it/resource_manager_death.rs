//! Resource managers are killed, or their acks are lost, while tasks flow: redelivered hints change nothing, no attempt is
//! burnt, and every reservation comes back.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, metric, sum};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::proxy::{Mode, Proxy};
use testkit::services::TestBroker;

const SOON: Duration = Duration::from_secs(30);
/// Slots of the three executors of [`Shape::default`].
const SLOTS: i64 = 3 * 64;
const BURNT: &str = "select count(*) from attempt where charged and outcome <> 'succeeded'";

fn mix() -> Mix {
    Mix { commands: 3, fail_once_percent: 0, work: Duration::from_millis(50) }
}

/// Kills each resource manager in turn, `kills` times.
async fn killed(tasks: usize, kills: u32, every: Duration) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    Oracle::of(&cluster).free_again(SLOTS, SOON).await?;
    let victims = cluster.of(Role::ResourceManager);
    let mix = mix();
    let (submitted, killed) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 20), every * (kills + 1)), async {
            for kill in 0..kills {
                clock::sleep(every).await;
                let at = victims[kill as usize % victims.len()];
                cluster.kill9(at)?;
                cluster.launch(at)?;
            }
            Ok::<_, anyhow::Error>(())
        });
    killed?;
    let submitted = submitted?;
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    assert_eq!(oracle.number(BURNT).await?, 0, "attempts burnt by the death of a resource manager");
    // Nothing may stay reserved, in any dimension: a slot is a basic task's share of all five.
    oracle.free_again(SLOTS, SOON).await?;
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    let again =
        oracle.number("select coalesce(sum(attempt - 1), 0)::bigint from task_history").await?;
    eprintln!("{tasks} tasks through {kills} kills; {again} attempts repeated, none charged");
    Ok(())
}

/// What goes to the broker is swallowed for a while, then the connections break: all that was acked meanwhile comes again.
async fn acks_lost(tasks: usize, rounds: u32, lasting: Duration) -> anyhow::Result<()> {
    let broker = TestBroker::new().await?;
    let upstream = broker
        .url()
        .rsplit('@')
        .next()
        .and_then(|rest| rest.split('/').next())
        .unwrap_or_default()
        .to_owned();
    let proxy = Proxy::start(upstream).await?;
    let url = proxy.url(broker.url())?;
    let shape = Shape::default();
    let mut cluster = Cluster::on(shape, TestDatabase::new().await?, broker, Some(url)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let every = lasting * 2 + Duration::from_millis(1400);
    let mix = mix();
    let breaks = async {
        let mut noops = Vec::new();
        let mut round = 0;
        while round < rounds || came_again(&mut cluster).await? == 0.0 {
            anyhow::ensure!(round < rounds + 20, "nothing was delivered twice: the breaks missed");
            clock::sleep(every - lasting - Duration::from_millis(100)).await;
            // Either way the broker learns of no ack; the second way it was told of publishes, and nobody hears its confirms.
            if round % 2 == 0 {
                proxy.set(Mode::Blackhole);
            } else {
                proxy.set(Mode::DropReplies);
                let noop = json!({ "run": { "noop": {} } });
                noops.extend(customer.submit_batch(&[noop], &format!("break-{round}")).await?);
            }
            clock::sleep(lasting).await;
            proxy.set(Mode::Reset);
            clock::sleep(Duration::from_millis(100)).await;
            proxy.set(Mode::Pass);
            round += 1;
        }
        Ok::<_, anyhow::Error>(noops)
    };
    let (submitted, noops) =
        tokio::join!(mix.submit(&customer, &ledger, (tasks, 20), every * (rounds + 1)), breaks);
    let mut submitted = submitted?;
    submitted.all.extend(noops?);
    let oracle = Oracle::of(&cluster);
    oracle.drained(SOON).await?;
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    assert_eq!(ledger.runs()?.completed_more_than_once(), Vec::<String>::new());
    let again = oracle.number("select count(*) from task_history where attempt <> 1").await?;
    assert_eq!(again, 0, "tasks were placed twice");
    let came_again = came_again(&mut cluster).await?;
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    eprintln!("{tasks} tasks through {rounds} breaks; {came_again} deliveries came again");
    Ok(())
}

/// Messages that were delivered again, and hints that were published again.
async fn came_again(cluster: &mut Cluster) -> anyhow::Result<f64> {
    let redelivered = sum(
        cluster,
        Role::ResourceManager,
        "berth_bus_deliveries_total",
        &["redelivered=\"true\""],
    )
    .await?;
    let stale = sum(cluster, Role::ResourceManager, "berth_stale_hints_total", &[]).await?;
    Ok(redelivered + stale)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_resource_managers_burn_no_attempt_and_leave_nothing_reserved() -> anyhow::Result<()>
{
    killed(800, 4, Duration::from_secs(3)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_acks_place_nothing_twice() -> anyhow::Result<()> {
    acks_lost(800, 6, Duration::from_millis(300)).await
}

/// A frozen resource manager holds the hints that the broker delivered to it, up to its prefetch. The sweep returns their
/// tasks, and the other one places them.
#[tokio::test(flavor = "multi_thread")]
async fn hints_that_a_frozen_resource_manager_holds_are_placed_by_another() -> anyhow::Result<()> {
    // All that are submitted below fit.
    let shape = Shape::default().with(Role::Executor, 2).set("BERTH_BUS__PREFETCH", "200");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let managers = cluster.of(Role::ResourceManager);
    let urls: Vec<String> = cluster.manager_urls().split(',').map(str::to_owned).collect();
    // One executor each.
    for (at, url) in cluster.of(Role::Executor).into_iter().zip(urls) {
        cluster.kill9(at)?;
        cluster.set_of(at, "BERTH_EXECUTOR__RESOURCE_MANAGERS", url);
        cluster.launch(at)?;
    }
    Oracle::of(&cluster).free_again(2 * 64, SOON).await?;
    let noop = json!({ "run": { "noop": {} } });
    let began = clock::monotonic();
    let mut task = 0;
    let mut submit = async || {
        task += 1;
        customer.submit_until_answered(&noop, &format!("lone-{task}")).await?;
        clock::sleep(Duration::from_millis(50)).await;
        Ok::<_, anyhow::Error>(())
    };
    // Until the broker delivers to both.
    while placed(&mut cluster, &managers).await?.iter().any(|placed| *placed < 2.0) {
        anyhow::ensure!(began.elapsed() < SOON, "one resource manager receives no hints");
        submit().await?;
    }
    cluster.process(managers[0])?.stop()?;
    for _ in 0..20 {
        submit().await?;
    }
    // It is still frozen.
    Oracle::of(&cluster).drained(SOON).await?;
    cluster.process(managers[0])?.cont()?;
    let returned =
        sum(&mut cluster, Role::Scheduler, "berth_scheduler_events_total", &["dispatch_stale"]);
    assert!(returned.await? > 0.0, "the frozen one held no hint");
    assert_eq!(
        Oracle::of(&cluster)
            .number("select count(*) from task_history where state <> 'succeeded'")
            .await?,
        0
    );
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// How many tasks each has placed.
async fn placed(cluster: &mut Cluster, managers: &[usize]) -> anyhow::Result<Vec<f64>> {
    let mut placed = Vec::new();
    for at in managers {
        placed.push(metric(cluster, *at, "berth_placed_tasks_total", &[]).await?);
    }
    Ok(placed)
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn resource_managers_killed_for_a_minute_burn_no_attempt_and_leave_nothing_reserved()
    -> anyhow::Result<()> {
        super::killed(6000, 20, Duration::from_secs(3)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lost_acks_place_none_of_four_thousand_twice() -> anyhow::Result<()> {
        super::acks_lost(4000, 30, Duration::from_millis(300)).await
    }

    /// Longer than a publish may take: what the broker has taken counts as not sent, and is sent again.
    #[tokio::test(flavor = "multi_thread")]
    async fn confirms_lost_for_three_seconds_ten_times_place_none_of_four_thousand_twice()
    -> anyhow::Result<()> {
        super::acks_lost(4000, 10, Duration::from_secs(3)).await
    }
}
