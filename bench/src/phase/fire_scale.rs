//! Millions of stored schedules, few of them due: cost of reading a shard, and memory of a scheduler.
//!
//! Takes gigabytes of disk and some minutes: `SCALE=1 make bench`, or `--scale`.

use super::fires::{lead, scheduler};
use crate::report::Measured;
use anyhow::Context;
use e2e::{Cluster, Role, Schedules};
use runtime::clock;
use std::time::Duration;
use testkit::psql;

/// Each is due once a day.
const EVERY: Duration = Duration::from_secs(86_400);
/// Time of firing before the measurement.
const FIRES: Duration = Duration::from_secs(30);

/// The scheduler's own read of each shard, twenty rounds, with the settings of its role: p50, p99 and maximum, ms.
const READS: &str = "create temp table took (ms double precision);
    set enable_seqscan = off;
    set plan_cache_mode = force_generic_plan;
    do $$
    declare
        one smallint;
        began timestamptz;
        until timestamptz;
    begin
        for round in 1..20 loop
            for one in select shard from schedule_shard order by shard loop
                began := clock_timestamp();
                until := began + interval '10 seconds';
                perform n.id, n.tenant_id, n.shard, n.due_at, n.fire_at from schedule n
                    where n.shard = one and n.fire_at > 'epoch' and n.fire_at <= until
                    order by n.fire_at limit 7000;
                insert into took values (extract(epoch from clock_timestamp() - began) * 1000);
            end loop;
        end loop;
    end $$;
    select percentile_disc(0.5) within group (order by ms), percentile_disc(0.99) within group (order by ms), max(ms) from took";

/// With `count` schedules.
pub async fn fire_scale(count: u32) -> anyhow::Result<Vec<Measured>> {
    let mut cluster = scheduler().await?;
    let schedules = Schedules::store(&cluster, count, EVERY, lead(count), true).await?;
    let url = cluster.database().owner_url().to_owned();
    let left = "select greatest(0, ceil(extract(epoch from min(due_at) - clock_timestamp()))) from schedule";
    let left = psql::number(&url, left).await?;
    clock::sleep(Duration::from_secs(left.unsigned_abs()) + FIRES).await;
    let row = psql::run(&url, READS).await?;
    let last = row.trim().lines().last().unwrap_or_default();
    let values: Vec<f64> =
        last.split('|').map(str::parse).collect::<Result<_, _>>().with_context(|| row.clone())?;
    let [p50, p99, max] = values[..] else { anyhow::bail!("three values, not {row}") };
    let memory = peak_mib(&mut cluster)?;
    let late = schedules.lateness(Duration::from_secs(2)).await?;
    anyhow::ensure!(late.fired > 0.0, "nothing was fired in {FIRES:?}");
    Ok(vec![
        Measured::new("fire_due_query_p99_ms", p99)
            .with("p50_ms", p50)
            .with("max_ms", max)
            .with("schedules", count.into()),
        Measured::new("scheduler_peak_mib", memory)
            .with("schedules", count.into())
            .with("fire_lateness_p99_ms", late.p99),
    ])
}

/// The most memory that the scheduler has had at any time.
fn peak_mib(cluster: &mut Cluster) -> anyhow::Result<f64> {
    let at = *cluster.of(Role::Scheduler).first().context("no scheduler")?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", cluster.process(at)?.pid()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
