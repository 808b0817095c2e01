//! What Postgres alone can take: the statement that stores a batch, on the real tables, through `pgbench`.

use crate::cpu::{Meter, postmaster};
use crate::report::Measured;
use anyhow::{Context, bail};
use testkit::db::TestDatabase;
use testkit::{psql, settings};
use tokio::process::Command;

const PREPARE: &str = include_str!("../../sql/raw_insert_prepare.sql");
const BATCH: u64 = 1000;
const CLIENTS: u64 = 2;

/// Inserts `batches` batches of 1000 rows over two connections.
pub async fn raw_insert(batches: u64) -> anyhow::Result<Vec<Measured>> {
    let database = TestDatabase::new().await?;
    database.sql(&PREPARE.replace(":batches", &batches.to_string())).await?;
    let mut meter = Meter::default();
    if let Some(pid) = postmaster(database.owner_url()).await? {
        meter.watch("postgres", pid);
    }
    let before = meter.read();
    let seconds = pgbench(database.owner_url(), batches / CLIENTS).await?;
    let rows = batches / CLIENTS * CLIENTS * BATCH;
    let cpu = meter.since(&before, rows);
    let stored =
        psql::number(database.owner_url(), "select count(*) from task join task_spec using (id)")
            .await?;
    anyhow::ensure!(stored == i64::try_from(rows)?, "{stored} rows of {rows} are there");
    Ok(vec![Measured::new("raw_insert_per_s", rows as f64 / seconds).with_cpu(cpu)])
}

/// Runs the script and answers how long it took, without connecting.
async fn pgbench(url: &str, each: u64) -> anyhow::Result<f64> {
    let script = settings::workspace().join("bench/sql/raw_insert.sql");
    let began = runtime::clock::monotonic();
    let output = Command::new("pgbench")
        .args([
            "--no-vacuum",
            "--protocol",
            "prepared",
            "--client",
            &CLIENTS.to_string(),
            "--transactions",
            &each.to_string(),
        ])
        .arg("--file")
        .arg(script)
        .arg(url)
        .kill_on_drop(true)
        .output()
        .await
        .context("starting pgbench; run scripts/setup")?;
    let elapsed = began.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("pgbench: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let rate = text.lines().find_map(|line| {
        line.strip_prefix("tps = ")?.split_whitespace().next()?.parse::<f64>().ok()
    });
    Ok(rate.map_or(elapsed, |rate| (each * CLIENTS) as f64 / rate))
}
