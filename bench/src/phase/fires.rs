//! Lateness of due times in the ledger, at a steady rate and all at once, by the database clock.
//!
//! One scheduler, no executor. A round with an early, missed or doubled due time is void.

use crate::cpu::{Meter, postmaster};
use crate::report::Measured;
use crate::rig::Rig;
use e2e::{Cluster, Lateness, Role, Schedules};
use runtime::clock;
use std::time::Duration;

/// How often each is due. So many seconds' worth of schedules are stored.
const EVERY: Duration = Duration::from_secs(100);
/// From the last row that is stored to the first due time.
const LEAD: Duration = Duration::from_secs(5);
/// Not counted: the first due times find no statement prepared.
pub(super) const WARM: Duration = Duration::from_secs(2);
/// How far behind the last due time may be when all is counted.
const BEHIND: Duration = Duration::from_secs(5);

/// `rate` due times a second for `length`.
pub async fn fires(rate: u32, length: Duration) -> anyhow::Result<Vec<Measured>> {
    let mut cluster = scheduler().await?;
    let count = rate * u32::try_from(EVERY.as_secs())?;
    let schedules = Schedules::store(&cluster, count, EVERY, lead(count), true).await?;
    let meter = meter(&mut cluster).await?;
    clock::sleep(lead(count) + WARM).await;
    let before = meter.read();
    clock::sleep(length).await;
    let cpu = meter.since(&before, u64::from(rate) * length.as_secs());
    let late = counted(&schedules, WARM).await?;
    anyhow::ensure!(
        late.fired >= f64::from(rate) * length.as_secs_f64() * 0.9,
        "{} due times of {rate} a second in {length:?}",
        late.fired
    );
    Ok(vec![
        Measured::new("fire_lateness_p50_ms", late.p50)
            .with_cpu(cpu)
            .with("rate_per_s", rate.into())
            .with("schedules", count.into()),
        Measured::new("fire_lateness_p99_ms", late.p99).with("max_ms", late.max),
    ])
}

/// `count` due at one moment.
pub async fn herd(count: u32) -> anyhow::Result<Vec<Measured>> {
    let cluster = scheduler().await?;
    let schedules = Schedules::store(&cluster, count, EVERY, lead(count), false).await?;
    clock::sleep(lead(count) + Duration::from_secs(20)).await;
    let late = counted(&schedules, Duration::ZERO).await?;
    anyhow::ensure!(late.fired >= f64::from(count), "{} of {count} fired", late.fired);
    Ok(vec![
        Measured::new("fire_herd_last_ms", late.max)
            .with("schedules", count.into())
            .with("p50_ms", late.p50),
    ])
}

/// Time to store so many, and then some.
pub(super) fn lead(count: u32) -> Duration {
    LEAD + Duration::from_secs(1) * (count / 15_000)
}

async fn counted(schedules: &Schedules, warm: Duration) -> anyhow::Result<Lateness> {
    let faults = schedules.faults(BEHIND).await?;
    anyhow::ensure!(faults.is_empty(), "{}", faults.join("; "));
    schedules.lateness(warm).await
}

pub(super) async fn scheduler() -> anyhow::Result<Cluster> {
    let shape = [Role::Api, Role::ResourceManager]
        .into_iter()
        .fold(Rig::shape(0), |shape, role| shape.with(role, 0));
    Cluster::start(shape).await
}

async fn meter(cluster: &mut Cluster) -> anyhow::Result<Meter> {
    let mut meter = Meter::default();
    for at in cluster.of(Role::Scheduler) {
        meter.watch("scheduler", cluster.process(at)?.pid());
    }
    if let Some(pid) = postmaster(cluster.database().owner_url()).await? {
        meter.watch("postgres", pid);
    }
    Ok(meter)
}
