//! Throughput of the broker alone: hints published and consumed through the bus.

use crate::cpu::{Meter, holder_of_port};
use crate::report::Measured;
use crate::rig;
use anyhow::{Context, bail, ensure};
use bus::{Bus, Hint, HintBatch};
use domain::epoch::Epoch;
use domain::id::{PoolName, TaskId, TenantId};
use domain::resources::Tier;
use domain::task::Dispatch;
use futures::future::try_join_all;
use runtime::clock;
use runtime::config::{BusConfig, BusKind, SecretString};
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::trace::TraceContext;
use std::cell::Cell;
use std::time::Duration;
use testkit::services::TestBroker;
use tokio::sync::Semaphore;

/// Publishers at once, and messages of each call.
const PUBLISHERS: u64 = 4;
const WINDOW: u64 = 250;
/// Messages published and not yet consumed: far less than the queue holds.
const UNDER_WAY: usize = 4000;

/// Sends `messages` of `hints` hints each.
pub async fn raw_hop(messages: u64, hints: usize) -> anyhow::Result<Vec<Measured>> {
    let broker = TestBroker::new().await?;
    let (tasks, (stop, shutdown)) = (TaskGroup::new(), Shutdown::new());
    let bus = Bus::connect(&settings(&broker), &tasks, &shutdown)?;
    ensure!(bus.wait_connected(Duration::from_secs(10)).await, "no connection to the broker");
    let pool: PoolName = "bench".parse()?;
    let mut meter = Meter::default();
    if let Some(pid) = holder_of_port(broker.url()) {
        meter.watch("rabbitmq", pid);
    }
    // The first message declares the queue.
    let mut consumer = bus.consume(&pool, 1000);
    hop(&bus, &pool, &mut consumer, WINDOW, hints).await?;
    let before = meter.read();
    let began = clock::monotonic();
    hop(&bus, &pool, &mut consumer, messages, hints).await?;
    let elapsed = began.elapsed().as_secs_f64();
    let total = messages * hints as u64;
    let cpu = meter.since(&before, total);
    drop(consumer);
    stop.shut_down();
    let _late = tasks.join_all(Duration::from_secs(5)).await;
    let key = if hints == 1 { "raw_hop_per_s" } else { "raw_hop_packed_per_s" };
    let per_second = messages as f64 / elapsed;
    Ok(vec![
        Measured::new(key, total as f64 / elapsed)
            .with_cpu(cpu)
            .with("hints_per_message", hints as f64)
            .with("messages_per_s", per_second),
    ])
}

/// Publishes and consumes until all have come.
async fn hop(
    bus: &Bus,
    pool: &PoolName,
    consumer: &mut bus::HintConsumer,
    messages: u64,
    hints: usize,
) -> anyhow::Result<()> {
    let room = Semaphore::new(UNDER_WAY);
    let left = Cell::new(messages);
    let publish = |_| {
        let (room, left) = (&room, &left);
        async move {
            while left.get() > 0 {
                let now = left.get().min(WINDOW);
                left.set(left.get() - now);
                room.acquire_many(u32::try_from(now)?).await?.forget();
                let outcomes = bus.publish(pool, (0..now).map(|_| batch(hints)).collect()).await;
                if let Some(other) = outcomes.iter().find(|outcome| !outcome.is_confirmed()) {
                    bail!("a publish was not confirmed: {}", other.as_str());
                }
            }
            anyhow::Ok(())
        }
    };
    let consume = async {
        let mut come = 0;
        while come < messages {
            let next = clock::timeout(Duration::from_secs(10), consumer.next())
                .await
                .context("a message is lost")?;
            let delivery = next.context("the bus has ended")?;
            ensure!(delivery.batch().hints.len() == hints, "another message than was sent");
            delivery.ack();
            room.add_permits(1);
            come += 1;
        }
        anyhow::Ok(())
    };
    futures::try_join!(try_join_all((0..PUBLISHERS).map(publish)), consume)?;
    Ok(())
}

pub(super) fn batch(hints: usize) -> HintBatch {
    let hint = |_| Hint {
        dispatch: Dispatch { tenant: TenantId::fresh(), task: TaskId::fresh(), epoch: Epoch(1) },
        resources: Tier::Basic.resources(),
        start_deadline_unix_ms: 1_790_000_000_000,
        driver: "command".parse().ok(),
    };
    HintBatch { trace: TraceContext::generate(), hints: (0..hints).map(hint).collect() }
}

/// The defaults, with room for a generator that is ahead.
pub(super) fn settings(broker: &TestBroker) -> BusConfig {
    BusConfig {
        kind: BusKind::RabbitMq,
        url: SecretString::from(broker.url().to_owned()),
        ca_file: String::new(),
        client_cert_file: String::new(),
        client_key_file: String::new(),
        queue_prefix: broker.queue_prefix().to_owned(),
        queue_type: rig::queue_type(),
        publish_timeout: Duration::from_secs(5),
        hint_ttl: Duration::from_secs(30),
        hint_max_length: 20_000,
        prefetch: 1000,
        heartbeat: Duration::from_secs(5),
        reconnect_max: Duration::from_secs(1),
        wake_interval: Duration::from_millis(2),
    }
}
