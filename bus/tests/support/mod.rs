//! A bus for one test, on either carrier, and a side entrance to its broker.
//!
//! Used by all test files here. The rule: each test has a queue prefix of its own, so that all can
//! share one broker at the same time.
#![expect(dead_code, reason = "each test file uses a part of it")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail this way")]

use bus::{Bus, Delivery, Hint, HintBatch, HintConsumer, PublishOutcome, Topic, Wakeups};
use domain::epoch::Epoch;
use domain::id::{PoolName, TaskId, TenantId};
use domain::resources::Tier;
use domain::task::Dispatch;
use lapin::options::{BasicPublishOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use runtime::clock;
use runtime::config::{BusConfig, BusKind, QueueType, SecretString};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskGroup;
use runtime::trace::TraceContext;
use std::sync::Arc;
use std::time::Duration;
use testkit::services::TestBroker;

/// Long enough for a loaded machine; a good run never waits for it.
pub const SOON: Duration = Duration::from_secs(10);

/// What carries the bus of a test.
#[derive(Debug, Clone, Copy)]
pub enum Carrier {
    InProcess,
    RabbitMq,
    /// RabbitMQ with classic queues.
    Classic,
}

/// A bus and what must outlive it.
pub struct Rig {
    pub bus: Bus,
    pub pool: PoolName,
    pub config: BusConfig,
    pub stop: ShutdownHandle,
    pub tasks: TaskGroup,
    broker: Option<Arc<TestBroker>>,
}

impl Carrier {
    /// A connected bus with settings that keep tests quick.
    pub async fn rig(self, tune: impl FnOnce(&mut BusConfig)) -> Rig {
        let broker = match self {
            Self::InProcess => None,
            Self::RabbitMq | Self::Classic => Some(TestBroker::new().await.unwrap()),
        };
        let (kind, url, prefix) = match &broker {
            None => (BusKind::InProcess, "amqp://nowhere", "memory"),
            Some(broker) => (BusKind::RabbitMq, broker.url(), broker.queue_prefix()),
        };
        let mut config = config(kind, url, prefix);
        if matches!(self, Self::Classic) {
            config.queue_type = QueueType::Classic;
        }
        tune(&mut config);
        let mut rig = Rig::over(config);
        rig.broker = broker.map(Arc::new);
        assert!(rig.bus.wait_connected(SOON).await, "no connection to the broker");
        // Declares the queue: RabbitMQ refuses messages while two connections declare it at once.
        rig.publish(Vec::new()).await;
        rig
    }
}

/// Settings that keep tests quick.
pub fn config(kind: BusKind, url: &str, prefix: &str) -> BusConfig {
    BusConfig {
        kind,
        url: SecretString::from(url.to_owned()),
        ca_file: String::new(),
        client_cert_file: String::new(),
        client_key_file: String::new(),
        queue_prefix: prefix.to_owned(),
        queue_type: QueueType::Quorum,
        publish_timeout: Duration::from_secs(2),
        hint_ttl: Duration::from_secs(60),
        hint_max_length: 10_000,
        prefetch: 8,
        heartbeat: Duration::from_secs(1),
        reconnect_max: Duration::from_millis(500),
        wake_interval: Duration::from_millis(2),
    }
}

/// Waits until `wakeups` of the batcher receive from `sender`, and drains what is in transit.
pub async fn receives_wakeup(sender: &Bus, wakeups: &Wakeups) {
    let batcher = wakeups.notify(Topic::Batcher);
    // Sent again and again until the listener is there; a lost wake-up is no error.
    let received = async {
        loop {
            sender.wake(Topic::Batcher);
            if clock::timeout(Duration::from_millis(50), batcher.notified()).await.is_ok() {
                break;
            }
        }
    };
    clock::timeout(SOON, received).await.expect("no wake-up arrived");
    while clock::timeout(Duration::from_millis(100), wakeups.next()).await.is_ok() {}
}

impl Rig {
    /// A bus that may not be connected yet.
    pub fn over(config: BusConfig) -> Self {
        // Shown by the test runner when a test fails. A second test in the process finds it set.
        let _ = tracing_subscriber::fmt()
            .with_test_writer()
            .with_env_filter("info,bus=debug,lapin=off")
            .try_init();
        let (tasks, (stop, shutdown)) = (TaskGroup::new(), Shutdown::new());
        let bus = Bus::connect(&config, &tasks, &shutdown).unwrap();
        // A pool of its own: metrics are shared by all tests of a process.
        let pool = format!("p{}", TaskId::fresh().0.simple()).parse().unwrap();
        Self { bus, pool, config, stop, tasks, broker: None }
    }

    /// A second process on the same broker.
    pub async fn sibling(&self) -> Self {
        let mut sibling = Self::over(self.config.clone());
        sibling.pool = self.pool.clone();
        assert!(sibling.bus.wait_connected(SOON).await);
        sibling
    }

    /// With the other's broker, so that it lives as long.
    pub fn keeping(mut self, other: &Self) -> Self {
        self.broker.clone_from(&other.broker);
        self
    }

    pub async fn publish(&self, batches: Vec<HintBatch>) {
        let outcomes = self.bus.publish(&self.pool, batches).await;
        assert!(outcomes.iter().all(|outcome| outcome.is_confirmed()), "{outcomes:?}");
    }

    /// Publishes one batch and says how it ended.
    pub async fn publish_one(&self) -> PublishOutcome {
        self.bus.publish(&self.pool, vec![batch(1)]).await[0]
    }

    /// Publishes until it works; one batch of a hint arrives, or more.
    pub async fn until_confirmed(&self) {
        let publish = || async { self.publish_one().await.is_confirmed() };
        testkit::poll::until("a publish is confirmed", SOON, publish).await.unwrap();
    }

    pub fn consume(&self, prefetch: u16) -> HintConsumer {
        self.bus.consume(&self.pool, prefetch)
    }

    pub fn queue(&self) -> String {
        format!("{}.hints.{}", self.config.queue_prefix, self.pool)
    }

    /// A connection past the bus.
    pub async fn admin(&self) -> Admin {
        Admin::connect(self.broker.as_ref().unwrap().url()).await
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.shut_down();
    }
}

/// A plain connection to the broker, for what Berth never does.
pub struct Admin {
    channel: Channel,
    _connection: Connection,
}

impl Admin {
    pub async fn connect(url: &str) -> Self {
        let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        Self { channel: connection.create_channel().await.unwrap(), _connection: connection }
    }

    /// Deletes a queue with everything in it.
    pub async fn delete(&self, queue: &str) {
        self.channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
    }

    /// Puts any bytes on a queue.
    pub async fn put(&self, queue: &str, body: &[u8]) {
        let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
        let sent = self.channel.basic_publish("".into(), queue.into(), options, body, properties);
        sent.await.unwrap();
    }

    /// Declares a queue with arguments of its own.
    pub async fn declare(&self, queue: &str, arguments: FieldTable) {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(queue.into(), options, arguments).await.unwrap();
    }
}

/// A batch of `size` hints of fresh tasks.
pub fn batch(size: usize) -> HintBatch {
    let hint = |_| Hint {
        dispatch: Dispatch { tenant: TenantId::fresh(), task: TaskId::fresh(), epoch: Epoch(1) },
        resources: Tier::Basic.resources(),
        start_deadline_unix_ms: 1_790_000_000_000,
        driver: "command".parse().ok(),
    };
    HintBatch { trace: TraceContext::generate(), hints: (0..size).map(hint).collect() }
}

/// The next delivery, or a failed test.
pub async fn next(consumer: &mut HintConsumer) -> Delivery {
    clock::timeout(SOON, consumer.next())
        .await
        .expect("no delivery came")
        .expect("the consumer ended")
}

/// True when nothing comes for a moment: for what must not happen.
pub async fn nothing_comes(consumer: &mut HintConsumer) -> bool {
    clock::timeout(Duration::from_millis(300), consumer.next()).await.is_err()
}

/// The sum of a metric's series that carry all these labels.
pub fn metric(name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
    let text = runtime::metrics::render();
    let series = text.lines().filter(|line| {
        let rest = line.strip_prefix(name).unwrap_or("-");
        rest.starts_with(['{', ' ']) && labels.iter().all(|label| rest.contains(label))
    });
    series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// Waits until `holds`, or fails the test by saying `what` never was.
pub async fn until(what: &str, holds: impl FnMut() -> bool) {
    let mut holds = holds;
    testkit::poll::until(what, SOON, || std::future::ready(holds())).await.unwrap();
}
