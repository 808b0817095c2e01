//! Throughput of Postgres alone, with `pgbench`: the batch statement and a minimal single submit on the real tables,
//! and a minimal drain on a plain one. Raw counterparts of our figures, measured in the same run.

use crate::cpu::{Cpu, Meter, postmaster};
use crate::report::Measured;
use anyhow::{Context, bail, ensure};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::{psql, settings};
use tokio::process::Command;

const INSERT: &str = include_str!("../../sql/raw_insert_prepare.sql");
pub(super) const DRAIN: &str = include_str!("../../sql/raw_drain_prepare.sql");
/// Rows of a batch, in `raw_insert.sql`.
const BATCH: u64 = 1000;
/// Tasks of a claim, in `raw_drain.sql`.
const CLAIM: u64 = 500;
/// Connections for what comes in batches.
const FEW: u64 = 2;
/// Connections for single submits: as many as ours has.
const MANY: u64 = super::single_submit::CONNECTIONS as u64;

/// How much `pgbench` does: transactions of each connection, or for how long.
enum Amount {
    Each(u64),
    For(Duration),
}

/// Inserts `batches` batches of 1000 rows over two connections.
pub async fn raw_batch(batches: u64) -> anyhow::Result<Vec<Measured>> {
    let database = TestDatabase::new().await?;
    database.sql(&INSERT.replace(":batches", &batches.to_string())).await?;
    let run = pgbench(&database, "raw_insert.sql", FEW, Amount::Each(batches / FEW), BATCH).await?;
    stored(&database, run.items).await?;
    Ok(vec![run.measured("raw_batch_submit_per_s")])
}

/// Stores single tasks for `length`, each made durable by itself.
pub async fn raw_single(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let database = TestDatabase::new().await?;
    let run = pgbench(&database, "raw_single.sql", MANY, Amount::For(length), 1).await?;
    stored(&database, run.items).await?;
    Ok(vec![run.measured("raw_single_submit_per_s")])
}

/// Claims and ends `tasks`, 500 at a time.
pub async fn raw_drain(tasks: u64) -> anyhow::Result<Vec<Measured>> {
    let database = TestDatabase::new().await?;
    // Piece by piece: a vacuum cannot run beside others.
    for statement in DRAIN.replace(":tasks", &tasks.to_string()).split_inclusive(";\n") {
        database.sql(statement).await?;
    }
    let each = tasks / CLAIM / FEW;
    let run = pgbench(&database, "raw_drain.sql", FEW, Amount::Each(each), CLAIM).await?;
    let ended = psql::number(
        database.owner_url(),
        "select count(*) from raw_task where state = 2 and attempt = 1",
    )
    .await?;
    ensure!(ended == i64::try_from(run.items)?, "{ended} of {} ended once", run.items);
    Ok(vec![run.measured("raw_drain_per_s")])
}

async fn stored(database: &TestDatabase, expected: u64) -> anyhow::Result<()> {
    let both = "select count(*) from task join task_spec using (id)";
    let stored = psql::number(database.owner_url(), both).await?;
    ensure!(stored == i64::try_from(expected)?, "{stored} rows of {expected} are there");
    Ok(())
}

struct Run {
    items: u64,
    per_second: f64,
    cpu: Cpu,
}

impl Run {
    fn measured(self, key: &'static str) -> Measured {
        Measured::new(key, self.per_second).with_cpu(self.cpu)
    }
}

/// Runs a script, each transaction of which does `items` things; connecting is not counted.
async fn pgbench(
    database: &TestDatabase,
    script: &str,
    connections: u64,
    amount: Amount,
    items: u64,
) -> anyhow::Result<Run> {
    let mut meter = Meter::default();
    if let Some(pid) = postmaster(database.owner_url()).await? {
        meter.watch("postgres", pid);
    }
    let (option, value) = match amount {
        Amount::Each(transactions) => ("--transactions", transactions),
        Amount::For(length) => ("--time", length.as_secs().max(1)),
    };
    let before = meter.read();
    let output = Command::new("pgbench")
        .args(["--no-vacuum", "--protocol", "prepared"])
        .args(["--client", &connections.to_string(), option, &value.to_string()])
        .arg("--file")
        .arg(settings::workspace().join("bench/sql").join(script))
        .arg(database.owner_url())
        .kill_on_drop(true)
        .output()
        .await
        .context("starting pgbench; run scripts/setup")?;
    if !output.status.success() {
        bail!("pgbench: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let number = |prefix: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(prefix))?;
        rest.split([' ', '/']).next()?.parse::<f64>().ok()
    };
    let done = number("number of transactions actually processed: ");
    let transactions = done.with_context(|| format!("pgbench said: {text}"))?;
    let rate = number("tps = ").with_context(|| format!("pgbench said: {text}"))?;
    let items_done = transactions as u64 * items;
    let cpu = meter.since(&before, items_done);
    Ok(Run { items: items_done, per_second: rate * items as f64, cpu })
}
