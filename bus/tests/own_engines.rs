//! A broker that dies, refuses or half works, under load. Each test owns one, because it harms it.

#![expect(clippy::unwrap_used, reason = "a test may fail this way")]

mod support;

use bus::{Bus, ConnectionState, PublishOutcome, Topic};
use domain::id::PoolName;
use runtime::clock;
use runtime::config::{BusKind, QueueType};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskHandle;
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;
use support::{Rig, SOON, batch, metric, next};
use testkit::services::PrivateRabbit;

/// The publish limit of these tests, and a little for a loaded machine.
const ANSWERED: Duration = Duration::from_millis(2500);
/// By then what RabbitMQ knows of a new queue is on disk.
const SETTLED: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_broker_hangs_nobody_and_hints_flow_again_when_it_is_back() {
    a_broker_is_killed_and_comes_back(QueueType::Quorum).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_broker_with_classic_queues_hangs_nobody_either() {
    a_broker_is_killed_and_comes_back(QueueType::Classic).await;
}

async fn a_broker_is_killed_and_comes_back(queue_type: QueueType) {
    let mut broker = PrivateRabbit::start().await.unwrap();
    let rig = over(&broker, queue_type).await;
    let mut consumer = rig.consume(100);
    let wakeups = rig.bus.wakeups(&[Topic::Batcher]);
    let load = Load::start(&rig);
    let began = clock::monotonic();
    while began.elapsed() < SETTLED {
        next(&mut consumer).await.ack();
    }

    broker.kill9().unwrap();
    rig.bus.wake(Topic::Batcher);
    while consumer.try_next().is_some() {}
    clock::sleep(Duration::from_millis(500)).await;
    broker.restart().await.unwrap();

    let back = clock::monotonic();
    next(&mut consumer).await.ack();
    rig.until_confirmed().await;
    clock::timeout(SOON, wakeups.next()).await.unwrap();
    assert!(back.elapsed() < SOON, "back after {:?}", back.elapsed());
    let (outcomes, slowest) = load.stop().await;
    assert!(slowest < ANSWERED, "a publish took {slowest:?}");
    assert!(outcomes[&PublishOutcome::Confirmed] > 500, "{outcomes:?}");
    assert!(outcomes.contains_key(&PublishOutcome::ConnectionLost), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_has_fallen_silent_is_replaced() {
    let broker = PrivateRabbit::start().await.unwrap();
    let rig = over(&broker, QueueType::Quorum).await;
    let load = Load::start(&rig);
    ctl(&broker, &["eval", &format!("sys:suspend('%2F_{}').", rig.queue())]);
    let mut consumer = rig.consume(100);
    clock::timeout(Duration::from_secs(30), consumer.next()).await.unwrap().unwrap().ack();
    assert_eq!(metric("berth_bus_queues_replaced_total", &[("pool", rig.pool.as_str())]), 1.0);
    rig.until_confirmed().await;
    let (_, slowest) = load.stop().await;
    assert!(slowest < ANSWERED, "a publish took {slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_without_a_leader_for_a_while_keeps_no_consumer_that_nobody_reads() {
    let broker = PrivateRabbit::start().await.unwrap();
    let rig = over(&broker, QueueType::Quorum).await;
    let mut consumer = rig.consume(100);
    next(&mut consumer).await.ack();
    // What it is asked now it does later: as the queue of a cluster that has lost its majority.
    ctl(&broker, &["eval", &format!("sys:suspend('%2F_{}').", rig.queue())]);
    // A consumer to which nothing comes subscribes anew, again and again.
    let tries = metric("berth_bus_connections_lost_total", &[("link", "consume")]) + 2.0;
    support::until("two connections were given up", || {
        metric("berth_bus_connections_lost_total", &[("link", "consume")]) >= tries
    })
    .await;
    ctl(&broker, &["eval", &format!("sys:resume('%2F_{}').", rig.queue())]);
    let back = clock::monotonic();
    // Each of those that nobody reads would keep some.
    for _ in 0..30 {
        rig.until_confirmed().await;
        next(&mut consumer).await.ack();
    }
    assert!(back.elapsed() < SOON, "back after {:?}", back.elapsed());
    let listed = || {
        let queues = ctl(&broker, &["-q", "list_consumers", "queue_name"]);
        queues.lines().filter(|queue| *queue == rig.queue()).count()
    };
    assert_eq!(listed(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rights_on_names_with_the_prefix_are_all_that_a_user_needs() {
    let broker = PrivateRabbit::start().await.unwrap();
    ctl(&broker, &["add_user", "limited", "secret"]);
    ctl(&broker, &["set_permissions", "limited", "^berth[.]", "^berth[.]", "^berth[.]"]);
    let url = format!("amqp://limited:secret@127.0.0.1:{}/%2f", broker.port());
    let mut config = support::config(BusKind::RabbitMq, &url, "berth");
    config.heartbeat = Duration::from_secs(5);
    config.hint_ttl = Duration::from_millis(200);
    let rig = Rig::over(config);
    assert!(rig.bus.wait_connected(SOON).await);
    rig.until_confirmed().await;
    // Nobody consumes yet: it dies, and is counted.
    rig.bus.watch_dead_letters();
    let dead = || metric("berth_hints_dead_total", &[("pool", rig.pool.as_str())]) >= 1.0;
    support::until("a hint has died and was counted", dead).await;
    let mut consumer = rig.consume(1);
    rig.until_confirmed().await;
    next(&mut consumer).await.ack();
    let sibling = rig.sibling().await;
    let wakeups = rig.bus.wakeups(&[Topic::Batcher]);
    support::receives_wakeup(&sibling.bus, &wakeups).await;
    let report = rig.bus.queues(std::slice::from_ref(&rig.pool)).await;
    assert_eq!(report, bus::QueueReport::Checked(Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_out_of_memory_is_detected_at_once_and_acks_still_work() {
    let broker = PrivateRabbit::start().await.unwrap();
    let rig = over(&broker, QueueType::Quorum).await;
    let mut consumer = rig.consume(1);
    rig.publish(vec![batch(1), batch(1), batch(1)]).await;
    next(&mut consumer).await.ack();

    ctl(&broker, &["set_vm_memory_high_watermark", "absolute", "1"]);
    // RabbitMQ tells a connection that it is blocked when it publishes.
    let mut state = rig.bus.connection();
    let started = clock::monotonic();
    let first = rig.publish_one().await;
    assert!(started.elapsed() < ANSWERED);
    assert!(matches!(first, PublishOutcome::TimedOut | PublishOutcome::Blocked), "{first:?}");
    clock::timeout(SOON, state.wait_for(|state| *state == ConnectionState::Blocked))
        .await
        .unwrap()
        .unwrap();
    let started = clock::monotonic();
    assert_eq!(rig.publish_one().await, PublishOutcome::Blocked);
    assert!(started.elapsed() < Duration::from_millis(100));
    // With a prefetch of 1 the next comes only after the ack has arrived.
    next(&mut consumer).await.ack();
    next(&mut consumer).await.ack();

    ctl(&broker, &["set_vm_memory_high_watermark", "absolute", "4GB"]);
    assert!(rig.bus.wait_connected(SOON).await);
    rig.publish(vec![batch(1)]).await;
}

async fn over(broker: &PrivateRabbit, queue_type: QueueType) -> Rig {
    let mut config = support::config(BusKind::RabbitMq, &broker.url().unwrap(), "berth");
    // `ctl` takes seconds of both cores; that is no reason to lose a connection here.
    config.heartbeat = Duration::from_secs(5);
    config.queue_type = queue_type;
    let rig = Rig::over(config);
    assert!(rig.bus.wait_connected(SOON).await);
    // A broker that has just started is slow at first, and a new queue may refuse messages.
    rig.until_confirmed().await;
    rig
}

type Tally = (HashMap<PublishOutcome, usize>, Duration);

/// Publishes all the time, and notes the outcomes and the slowest answer.
struct Load {
    stop: ShutdownHandle,
    task: TaskHandle<Tally>,
}

impl Load {
    fn start(rig: &Rig) -> Self {
        let (stop, stopped) = Shutdown::new();
        let task =
            rig.tasks.spawn("load", publish_until(rig.bus.clone(), rig.pool.clone(), stopped));
        Self { stop, task }
    }

    async fn stop(mut self) -> Tally {
        self.stop.shut_down();
        self.task.join().await.unwrap()
    }
}

async fn publish_until(bus: Bus, pool: PoolName, stopped: Shutdown) -> Tally {
    let (mut outcomes, mut slowest) = (HashMap::<_, usize>::new(), Duration::ZERO);
    while !stopped.is_cancelled() {
        let started = clock::monotonic();
        for outcome in bus.publish(&pool, (0..100).map(|_| batch(1)).collect()).await {
            *outcomes.entry(outcome).or_default() += 1;
        }
        slowest = slowest.max(started.elapsed());
        clock::sleep(Duration::from_millis(20)).await;
    }
    (outcomes, slowest)
}

/// Runs `rabbitmqctl` against the broker, with the broker's own environment and user.
fn ctl(broker: &PrivateRabbit, arguments: &[&str]) -> String {
    use std::os::unix::fs::MetadataExt;
    let process = format!("/proc/{}", broker.pid().unwrap());
    let environment =
        String::from_utf8(std::fs::read(format!("{process}/environ")).unwrap()).unwrap();
    let server =
        environment.split('\0').filter_map(|pair| pair.split_once('=')).filter(|(name, _)| {
            name.starts_with("RABBITMQ_")
                || name.starts_with("ERL_EPMD")
                || ["HOME", "PATH"].contains(name)
        });
    let find = "exec \"$(find /usr/lib/rabbitmq -name rabbitmqctl | sort -V | tail -1)\" \"$@\"";
    let output = Command::new("setpriv")
        .arg(format!("--reuid={}", std::fs::metadata(&process).unwrap().uid()))
        .args(["--clear-groups", "--", "sh", "-c", find, "rabbitmqctl"])
        .args(arguments)
        .env_clear()
        .envs(server)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
