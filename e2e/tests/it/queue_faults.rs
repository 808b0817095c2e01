//! The hint queue is deleted under load, and consumers are thrown out for holding messages too long: the queue is
//! disposable, the rows are the truth.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, rabbitmqctl, sum};
use runtime::clock;
use serde_json::json;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::poll;
use testkit::services::{PrivateRabbit, TestBroker};

const SOON: Duration = Duration::from_secs(30);

struct Rig {
    rabbit: PrivateRabbit,
    cluster: Cluster,
    customer: Customer,
    ledger: Ledger,
    queue: String,
}

impl Rig {
    async fn start(shape: Shape, prepare: &[&str]) -> anyhow::Result<Self> {
        let rabbit = PrivateRabbit::start().await?;
        if !prepare.is_empty() {
            rabbitmqctl(&rabbit, prepare).await?;
        }
        let broker = TestBroker::new().await?;
        let queue = format!("{}.hints.default", broker.queue_prefix());
        let cluster =
            Cluster::on(shape, TestDatabase::new().await?, broker, Some(rabbit.url()?)).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let ledger = Ledger::at(cluster.folder().join("ledger"));
        Ok(Self { rabbit, cluster, customer, ledger, queue })
    }

    async fn messages(&self) -> anyhow::Result<u64> {
        let listed = rabbitmqctl(&self.rabbit, &["list_queues", "name", "messages"]).await?;
        let of_queue = |line: &str| line.strip_prefix(&self.queue)?.trim().parse().ok();
        listed
            .lines()
            .find_map(of_queue)
            .ok_or_else(|| anyhow::anyhow!("{} is not in {listed}", self.queue))
    }
}

/// Deletes the queue at load, `times` times.
async fn deleted_at_load(tasks: usize, times: u32) -> anyhow::Result<()> {
    let mut rig = Rig::start(Shape::default(), &[]).await?;
    let mix = Mix { commands: 2, fail_once_percent: 0, work: Duration::from_millis(5) };
    let every = Duration::from_secs(2);
    let (submitted, deleted) = tokio::join!(
        mix.submit(&rig.customer, &rig.ledger, (tasks, 20), every * (times + 1)),
        async {
            for _ in 0..times {
                clock::sleep(every).await;
                rabbitmqctl(&rig.rabbit, &["delete_queue", &rig.queue]).await?;
            }
            Ok::<_, anyhow::Error>(())
        }
    );
    deleted?;
    let submitted = submitted?;
    let oracle = Oracle::of(&rig.cluster);
    let began = clock::monotonic();
    oracle.drained(SOON).await?;
    let resumed = began.elapsed();
    assert_eq!(oracle.violations(&submitted, &rig.ledger).await?, Vec::<String>::new());
    let returned = sum(
        &mut rig.cluster,
        Role::Scheduler,
        "berth_bus_publishes_total",
        &["outcome=\"returned\""],
    )
    .await?;
    let cancelled =
        sum(&mut rig.cluster, Role::ResourceManager, "berth_bus_consumer_cancels_total", &[])
            .await?;
    assert!(returned + cancelled > 0.0, "nobody noticed that the queue was gone");
    assert_eq!(rig.cluster.panicked(), Vec::<String>::new());
    eprintln!(
        "{tasks} tasks, {times} deletions: drained {resumed:?} after the load; {returned} returned, {cancelled} cancels"
    );
    Ok(())
}

/// Deletes the queue while it holds messages that nobody takes.
async fn deleted_with_messages(tasks: usize, times: usize) -> anyhow::Result<()> {
    // Hints live longer than the resource managers are frozen, so that they are still there to be deleted.
    let shape =
        Shape::default().set("BERTH_BUS__HINT_TTL", "10s").set("BERTH_SCHEDULER__SWEEP_AGE", "10s");
    let shape = shape.set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "30s");
    let mut rig = Rig::start(shape, &[]).await?;
    Oracle::of(&rig.cluster).free_again(3 * 64, SOON).await?;
    let mut all = Vec::new();
    for time in 0..times {
        for at in rig.cluster.of(Role::ResourceManager) {
            rig.cluster.process(at)?.stop()?;
        }
        let noops = vec![json!({ "run": { "noop": { "sleep": "0s" } } }); tasks];
        all.extend(rig.customer.submit_batch(&noops, &format!("time-{time}")).await?);
        // To ask takes seconds where the machine is busy. Those that have run out meanwhile are sent again.
        let queued = poll::until_some("messages in the queue", SOON, || async {
            rig.messages().await.ok().filter(|n| *n > 0)
        })
        .await?;
        rabbitmqctl(&rig.rabbit, &["delete_queue", &rig.queue]).await?;
        let deleted = clock::monotonic();
        for at in rig.cluster.of(Role::ResourceManager) {
            rig.cluster.process(at)?.cont()?;
        }
        Oracle::of(&rig.cluster).drained(SOON + Duration::from_secs(10)).await?;
        let after = deleted.elapsed();
        assert!(after < Duration::from_secs(30), "drained only {after:?} after the deletion");
        eprintln!("deleted {queued} messages; drained {after:?} later");
    }
    let oracle = Oracle::of(&rig.cluster);
    let submitted = e2e::Submitted { all, commands: Vec::new() };
    assert_eq!(oracle.violations(&submitted, &rig.ledger).await?, Vec::<String>::new());
    Ok(())
}

/// A consumer that holds a message for 3 s loses its channel. Tasks that run for longer must not matter; a resource
/// manager that hangs must recover.
async fn held_too_long(work: Duration) -> anyhow::Result<()> {
    // The broker looks once a minute by default.
    let impatient = "application:set_env(rabbit, consumer_timeout, 3000), application:set_env(rabbit, channel_tick_interval, 500).";
    let shape = Shape::default()
        .with(Role::ResourceManager, 1)
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "30s")
        // Or the connection of the process that hangs is closed first.
        .set("BERTH_BUS__HEARTBEAT", "30s");
    let mut rig = Rig::start(shape, &["eval", impatient]).await?;
    let complaints = |rig: &Rig| rig.rabbit.log().matches("timed out").count();
    let long = json!({ "run": { "noop": { "sleep": format!("{}s", work.as_secs()) } } });
    let mut all = rig.customer.submit_batch(&vec![long; 20], "long").await?;
    Oracle::of(&rig.cluster).drained(work + SOON).await?;
    assert_eq!(complaints(&rig), 0, "a delivery was held while its task ran: {}", rig.rabbit.log());

    // Messages are in the hands of a process that does nothing.
    let manager = rig.cluster.of(Role::ResourceManager)[0];
    let noops = vec![json!({ "run": { "noop": { "sleep": "10ms" } } }); 100];
    let mut tries = 0;
    while complaints(&rig) == 0 {
        // On a busy machine they may be dispatched only when its last report counts no more: then it is sent none.
        tries += 1;
        anyhow::ensure!(tries <= 5, "the broker closed no channel: {}", rig.rabbit.log());
        rig.cluster.process(manager)?.stop()?;
        all.extend(rig.customer.submit_batch(&noops, &format!("short-{tries}")).await?);
        let closed = || async { complaints(&rig) > 0 };
        let _closed =
            poll::until("the broker to close a channel", Duration::from_secs(8), closed).await;
        rig.cluster.process(manager)?.cont()?;
    }
    let thawed = clock::monotonic();
    let oracle = Oracle::of(&rig.cluster);
    oracle.drained(SOON).await?;
    let after = thawed.elapsed();
    assert!(after < Duration::from_secs(10), "flow came back only {after:?} after the thaw");
    let submitted = e2e::Submitted { all, commands: Vec::new() };
    assert_eq!(oracle.violations(&submitted, &rig.ledger).await?, Vec::<String>::new());
    assert_eq!(rig.cluster.panicked(), Vec::<String>::new());
    eprintln!("flow was back {after:?} after the thaw");
    Ok(())
}

mod own_engines {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn work_flows_on_when_the_queue_is_deleted_at_load() -> anyhow::Result<()> {
        super::deleted_at_load(600, 4).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn messages_deleted_with_their_queue_are_sent_again() -> anyhow::Result<()> {
        super::deleted_with_messages(150, 1).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_consumer_thrown_out_for_holding_messages_comes_back() -> anyhow::Result<()> {
        super::held_too_long(Duration::from_secs(6)).await
    }
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn work_flows_on_when_the_queue_is_deleted_thirty_times_at_load() -> anyhow::Result<()> {
        super::deleted_at_load(6000, 30).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn thousands_of_messages_deleted_with_their_queue_are_sent_again() -> anyhow::Result<()> {
        super::deleted_with_messages(5000, 3).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_consumer_thrown_out_beside_tasks_of_a_minute_comes_back() -> anyhow::Result<()> {
        super::held_too_long(Duration::from_secs(60)).await
    }
}
