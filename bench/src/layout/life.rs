//! One life of many tasks in one layout, and what it cost.

use super::scratch::{Layout, Scratch};
use crate::cpu::{Meter, postmaster};
use runtime::clock;
use serde::Serialize;

/// Tasks of a batch.
pub const BATCH: u32 = 500;
/// Batches that wait at any time.
const WAITING: u32 = 20;

/// What one life cost.
#[derive(Debug, Clone, Serialize)]
pub struct Life {
    /// In which layout.
    pub layout: Layout,
    /// Ended tasks in the tables before.
    pub history: u32,
    /// Over one connection.
    pub tasks_per_s: f64,
    /// Processor time of all of Postgres, autovacuum included.
    pub postgres_us: f64,
    /// The same for cleaning up afterwards.
    pub vacuum_us: f64,
    /// Log written, bytes a task.
    pub wal_bytes: f64,
    /// Choosing 500 of 10 000 waiting tasks of 20 tenants, mean.
    pub choose_mean_ms: f64,
    /// And the slowest of a hundred.
    pub choose_p99_ms: f64,
    /// Size of the table that the hot path works on, afterwards, without and with its indexes.
    pub hot_mib: f64,
    /// With its indexes.
    pub hot_with_indexes_mib: f64,
    /// Size of everything.
    pub all_mib: f64,
    /// Cores kept busy by anything but Postgres and this program meanwhile: above some hundredths the machine was disturbed.
    pub other_cores: f64,
}

/// Lives `tasks` tasks.
pub async fn life(
    scratch: &Scratch,
    history: u32,
    number: u32,
    tasks: u32,
) -> anyhow::Result<Life> {
    let batches = tasks / BATCH;
    scratch.input(number, batches).await?;
    scratch.sql("checkpoint").await?;
    let mut meter = Meter::default();
    if let Some(pid) = postmaster(scratch.url()).await? {
        meter.watch("postgres", pid);
    }
    let items = u64::from(batches * BATCH);
    let postgres =
        |cpu: crate::cpu::Cpu| cpu.us_per_item.get("postgres").copied().unwrap_or_default();
    let wal = "select pg_current_wal_lsn() - '0/0'";
    let wal_before = scratch.numbers(wal).await?[0];
    let before = meter.read();
    let began = clock::monotonic();
    scratch
        .sql(&format!("call bench_{}_life({batches}, {WAITING})", scratch.layout.name()))
        .await?;
    let elapsed = began.elapsed().as_secs_f64();
    let cpu = meter.since(&before, items);
    let other_cores = cpu.other_cores;
    let postgres_us = postgres(cpu);
    let wal_bytes = (scratch.numbers(wal).await?[0] - wal_before) / items as f64;
    ended_well(scratch, history, items).await?;
    let choose = scratch
        .numbers(
            "select avg(ms), percentile_cont(0.99) within group (order by ms) from bench_choice",
        )
        .await?;
    let (hot, indexes) = scratch.bytes(scratch.layout.tables()[0]).await?;
    let mut all = 0.0;
    for table in scratch.layout.tables() {
        let (table, indexes) = scratch.bytes(table).await?;
        all += table + indexes;
    }
    let before = meter.read();
    scratch.vacuum().await?;
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    Ok(Life {
        layout: scratch.layout,
        history,
        tasks_per_s: items as f64 / elapsed,
        postgres_us,
        vacuum_us: postgres(meter.since(&before, items)),
        wal_bytes,
        choose_mean_ms: choose[0],
        choose_p99_ms: choose[1],
        hot_mib: mib(hot),
        hot_with_indexes_mib: mib(hot + indexes),
        all_mib: mib(all),
        other_cores,
    })
}

/// At least this life's tasks have ended, each with its attempt, and none lives.
async fn ended_well(scratch: &Scratch, history: u32, items: u64) -> anyhow::Result<()> {
    let sql = match scratch.layout {
        Layout::Narrow => {
            "select (select count(*) from task), (select count(*) from task_history), (select count(*) from attempt)"
        }
        Layout::Wide => {
            "select count(*) filter (where finished_at is null), count(finished_at), (select count(*) from attempt) from wide_task"
        }
    };
    let counts = scratch.numbers(sql).await?;
    let least = f64::from(history) + items as f64;
    anyhow::ensure!(
        counts[0] == 0.0 && counts[1] >= least && counts[1] == counts[2],
        "live, ended, attempts are {counts:?}"
    );
    Ok(())
}
