//! The broker goes away, falls silent, refuses or carries no wake-ups while tasks come at a steady pace: no submit fails by it,
//! nothing is lost, and work flows again soon after.

use e2e::{Cluster, Customer, Oracle, Role, Shape, Steady, now_ms, rabbitmqctl, sum};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::proxy::{Mode, Proxy};
use testkit::services::{PrivateRabbit, TestBroker};

const DRAINED: Duration = Duration::from_secs(60);
/// After each return of the broker.
const RESUMED: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);

struct Rig {
    cluster: Cluster,
    customer: Customer,
    load: Steady,
}

impl Rig {
    /// On a broker at `url`.
    async fn start(shape: Shape, url: String, per_second: u32) -> anyhow::Result<Self> {
        let broker = TestBroker::new().await?;
        let cluster = Cluster::on(shape, TestDatabase::new().await?, broker, Some(url)).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let load = Steady { per_second, task: json!({ "run": { "noop": { "sleep": "5ms" } } }) };
        Ok(Self { cluster, customer, load })
    }

    /// All that was taken has ended well, once, on processes that never panicked.
    async fn all_is_well(&mut self, seen: &e2e::Seen) -> anyhow::Result<Duration> {
        let oracle = Oracle::of(&self.cluster);
        let began = clock::monotonic();
        oracle.drained(DRAINED).await?;
        let drained = began.elapsed();
        let ledger = Ledger::at(self.cluster.folder().join("ledger"));
        assert_eq!(oracle.violations(&seen.submitted, &ledger).await?, Vec::<String>::new());
        assert_eq!(seen.faults(), Vec::<&str>::new(), "submits failed by the broker");
        assert_eq!(self.cluster.panicked(), Vec::<String>::new());
        Ok(drained)
    }
}

/// One of each is enough to lose a broker.
fn small() -> Shape {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    shape.with(Role::Executor, 2)
}

/// The broker is restarted again and again.
async fn restarted(shape: Shape, per_second: u32, times: usize) -> anyhow::Result<()> {
    let mut rabbit = PrivateRabbit::start().await?;
    let mut rig = Rig::start(shape, rabbit.url()?, per_second).await?;
    let restarts = async {
        let mut returns = Vec::new();
        for _ in 0..times {
            clock::sleep(2 * SECOND).await;
            rabbit.restart().await?;
            returns.push(now_ms());
        }
        clock::sleep(3 * SECOND).await;
        anyhow::Ok(returns)
    };
    let (returns, seen) = rig.load.during(&rig.customer, restarts).await?;
    let drained = rig.all_is_well(&seen).await?;
    for at_ms in returns {
        let resumed = Oracle::of(&rig.cluster).first_end_after(at_ms, "a.placed_at").await?;
        eprintln!("a task placed since the return ended after {resumed:?}");
        assert!(resumed <= RESUMED, "work resumed only {resumed:?} after the return");
    }
    eprintln!(
        "{} tasks through {times} restarts; drained {drained:?} after the load",
        seen.answers.len()
    );
    Ok(())
}

/// What goes to the broker and what comes from it is swallowed, and no connection ends. Whoever waits for it must not wait for
/// ever, and nobody restarts a process.
async fn silent(
    shape: Shape,
    per_second: u32,
    (lasting, back): (Duration, Duration),
) -> anyhow::Result<()> {
    let shared = TestBroker::new().await?;
    let upstream = shared.url().rsplit('@').next().and_then(|rest| rest.split('/').next());
    let proxy = Proxy::start(upstream.unwrap_or_default()).await?;
    let mut rig = Rig::start(shape, proxy.url(shared.url())?, per_second).await?;
    let hole = async {
        clock::sleep(2 * SECOND).await;
        let connected = proxy.accepted();
        proxy.set(Mode::Blackhole);
        clock::sleep(lasting).await;
        proxy.set(Mode::Pass);
        let back_at = now_ms();
        clock::sleep(back).await;
        Ok((back_at, proxy.accepted() - connected))
    };
    let ((back_at, connected_anew), seen) = rig.load.during(&rig.customer, hole).await?;
    rig.all_is_well(&seen).await?;
    let oracle = Oracle::of(&rig.cluster);
    let resumed = oracle.first_end_after(back_at, "a.placed_at").await?;
    let since = i64::try_from((back - SECOND).as_millis())?;
    let part = oracle.ended_within(SECOND, (back_at + since, SECOND)).await?;
    eprintln!(
        "silent for {lasting:?}: a task placed since ended {resumed:?} after; of those taken in the last second of {back:?} \
         {part:.2} ended within a second; {connected_anew} connections were made anew"
    );
    assert!(resumed <= RESUMED, "work resumed only {resumed:?} after the silence");
    assert!(part >= 0.8, "of those taken {back:?} after only {part} ended within a second");
    assert!(connected_anew > 0, "nobody gave the silent connections up");
    Ok(())
}

/// Two of the broker's three nodes answer nothing for a while: no queue has a leader, and what is asked of one is done later.
async fn without_majority(
    shape: Shape,
    per_second: u32,
    (lasting, back): (Duration, Duration),
) -> anyhow::Result<()> {
    let nodes = PrivateRabbit::start_nodes::<3>().await?;
    for node in &nodes[1..] {
        rabbitmqctl(node, &["stop_app"]).await?;
        rabbitmqctl(node, &["join_cluster", &nodes[0].node()?]).await?;
        rabbitmqctl(node, &["start_app"]).await?;
    }
    // Each of them, at the place of the first in its URL.
    let (first, port) = (nodes[0].url()?, format!("127.0.0.1:{}", nodes[0].port()));
    let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let mut rig = Rig::start(shape, first.replace(&port, &hosts.join(",")), per_second).await?;
    let outage = async {
        clock::sleep(3 * SECOND).await;
        nodes[1..].iter().try_for_each(|node| node.freeze())?;
        clock::sleep(lasting).await;
        nodes[1..].iter().try_for_each(|node| node.thaw())?;
        let back_at = now_ms();
        clock::sleep(back).await;
        Ok(back_at)
    };
    let (back_at, seen) = rig.load.during(&rig.customer, outage).await?;
    let drained = rig.all_is_well(&seen).await?;
    let oracle = Oracle::of(&rig.cluster);
    let resumed = oracle.first_end_after(back_at, "a.placed_at").await?;
    let since = i64::try_from((back - SECOND).as_millis())?;
    let part = oracle.ended_within(SECOND, (back_at + since, SECOND)).await?;
    let queues = rabbitmqctl(&nodes[0], &["list_consumers", "queue_name"]).await?;
    let consumers = queues.lines().filter(|queue| queue.contains(".hints.")).count();
    eprintln!(
        "without a majority for {lasting:?}: a task placed since ended {resumed:?} after; of those taken in the last second of \
         {back:?} {part:.2} ended within a second; {consumers} consumers; drained {drained:?} after the load"
    );
    assert!(resumed <= RESUMED, "work resumed only {resumed:?} after the cluster was whole");
    assert!(part >= 0.8, "of those taken {back:?} after only {part} ended within a second");
    // One of each resource manager that has an executor; more would be those that nobody reads.
    assert!(consumers <= rig.cluster.of(Role::ResourceManager).len(), "{queues}");
    Ok(())
}

/// The broker is out of memory: it takes nothing from who publishes.
async fn refused(shape: Shape, per_second: u32, lasting: Duration) -> anyhow::Result<()> {
    let rabbit = PrivateRabbit::start().await?;
    let mut rig = Rig::start(shape, rabbit.url()?, per_second).await?;
    let limit = async |limit| {
        rabbitmqctl(&rabbit, &["set_vm_memory_high_watermark", "absolute", limit]).await
    };
    let Rig { cluster, customer, load } = &mut rig;
    let alarm = async {
        clock::sleep(SECOND).await;
        let state = "berth_bus_connection_state";
        let connected = sum(cluster, Role::Scheduler, state, &[]).await?;
        let normal = clock::monotonic();
        clock::sleep(lasting.min(10 * SECOND)).await;
        let over = clock::monotonic();
        limit("1").await?;
        let alarm = clock::monotonic();
        let commit = slow_commit(cluster.database(), lasting).await?;
        let ended = clock::monotonic();
        let blocked = sum(cluster, Role::Scheduler, state, &[]).await? > connected;
        limit("4GB").await?;
        Ok(((normal, over), (alarm, ended), commit, blocked))
    };
    let ((normal, alarm, commit, blocked), seen) = load.during(customer, alarm).await?;
    let drained = rig.all_is_well(&seen).await?;
    let (before, during) = (seen.p99(normal.0, normal.1)?, seen.p99(alarm.0, alarm.1)?);
    let took =
        format!("{during:?} in the alarm, {before:?} before; a slow commit in it {commit:?}");
    eprintln!("submits took (p99) {took}; drained {drained:?} after {lasting:?} of it");
    assert!(blocked, "nobody saw that the broker refuses");
    // Below that, and where a commit that no broker concerns waits as long, it is this machine that is measured.
    let most = 2 * before.max(commit).max(Duration::from_millis(50));
    assert!(during <= most, "submits took (p99) {took}");
    Ok(())
}

/// Commits nothing but a word in the log, again and again for so long. A commit of this length or a longer one was under way in the
/// slowest hundredth of that time.
async fn slow_commit(database: &TestDatabase, lasting: Duration) -> anyhow::Result<Duration> {
    let mut session = database.session()?;
    // To connect is no commit.
    session.row("select 1").await?;
    let (until, mut times) = (clock::monotonic() + lasting, Vec::new());
    while clock::monotonic() < until {
        let began = clock::monotonic();
        session.row("select pg_logical_emit_message(true, 'berth', 'a commit')").await?;
        times.push(began.elapsed());
        clock::sleep(Duration::from_millis(5)).await;
    }
    times.sort_unstable();
    let mut hundredth = lasting / 100;
    while let Some(took) = times.pop() {
        if took >= hundredth {
            return Ok(took);
        }
        hundredth -= took;
    }
    Ok(Duration::ZERO)
}

/// Nobody hears a wake-up: hints flow, and what else is to be done is found by looking.
async fn unwoken(per_second: u32, lasting: Duration) -> anyhow::Result<()> {
    let rabbit = PrivateRabbit::start().await?;
    // Who may not read the exchange may bind nothing to it.
    let rights = ["set_permissions", "-p", "/", "berth", ".*", ".*", "^(?!.*[.]wake$).*$"];
    rabbitmqctl(&rabbit, &rights).await?;
    let mut rig = Rig::start(small(), rabbit.url()?, per_second).await?;
    let ((), seen) = rig
        .load
        .during(&rig.customer, async {
            clock::sleep(lasting).await;
            Ok(())
        })
        .await?;
    rig.all_is_well(&seen).await?;
    let received = "berth_bus_wakes_received_total";
    let mut heard = 0.0;
    for role in [Role::Api, Role::Scheduler, Role::ResourceManager] {
        heard += sum(&mut rig.cluster, role, received, &[]).await?;
    }
    let sent = sum(&mut rig.cluster, Role::Api, "berth_bus_wakes_sent_total", &[]).await?;
    assert!((heard, sent > 0.0) == (0.0, true), "{heard} of {sent} wake-ups were heard");
    let oracle = Oracle::of(&rig.cluster);
    let p99 = oracle
        .number(
            "select percentile_disc(0.99) within group (order by ceil(extract(epoch from a.placed_at - s.run_at) * 1000))::bigint
                from attempt a join task_spec s on s.id = a.task_id",
        )
        .await?;
    eprintln!(
        "{} tasks, {sent} wake-ups lost; 99 of 100 were placed within {p99} ms",
        seen.answers.len()
    );
    assert!(p99 <= 1000, "placed only after {p99} ms");
    // And Postgres carries none: its notifications serialise commits, and fail them when nobody listens.
    let notifies = "select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'public' and p.prosrc ~* 'notify'";
    assert_eq!(oracle.number(notifies).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_falls_silent_is_given_up_and_work_flows_again() -> anyhow::Result<()> {
    let shape = small()
        .set("BERTH_BUS__HEARTBEAT", "1s")
        .set("BERTH_BUS__PUBLISH_TIMEOUT", "500ms")
        .set("BERTH_BUS__RECONNECT_MAX", "1s");
    silent(shape, 50, (3 * SECOND, 4 * SECOND)).await
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_restarted_broker_fails_no_submit_and_work_flows_again() -> anyhow::Result<()> {
        restarted(small(), 50, 1).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_wake_ups_tasks_start_within_a_second() -> anyhow::Result<()> {
        unwoken(30, 4 * SECOND).await
    }
}

mod alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_broker_out_of_memory_slows_no_submit() -> anyhow::Result<()> {
        refused(small(), 50, 2 * SECOND).await
    }
}

mod chaos {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_broker_restarted_five_times_fails_no_submit_and_work_flows_again()
    -> anyhow::Result<()> {
        restarted(Shape::default(), 200, 5).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_broker_silent_for_half_a_minute_is_given_up_and_work_flows_again()
    -> anyhow::Result<()> {
        silent(Shape::default(), 100, (30 * SECOND, 10 * SECOND)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn after_a_broker_without_a_majority_is_whole_work_flows_again() -> anyhow::Result<()> {
        without_majority(Shape::default(), 50, (20 * SECOND, 15 * SECOND)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_broker_out_of_memory_for_a_minute_slows_no_submit() -> anyhow::Result<()> {
        refused(Shape::default(), 100, 60 * SECOND).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_wake_ups_for_a_minute_tasks_start_within_a_second() -> anyhow::Result<()> {
        unwoken(100, 60 * SECOND).await
    }
}
