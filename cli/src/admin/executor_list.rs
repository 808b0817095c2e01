//! `berth admin executor list`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::{Executor, PageRequest};
use domain::id::PoolName;
use domain::time::Timestamp;
use runtime::clock;

const COLUMNS: [&str; 10] = [
    "EXECUTOR",
    "POOL",
    "STATE",
    "RUNNING",
    "FREE CPU",
    "FREE MEMORY",
    "FREE DISK",
    "STARTED",
    "SESSION ENDS",
    "VERSION",
];

/// Which executors.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin executor list --pool default\n\nCPU in millicores, memory and disk in MiB, each `free/capacity`. A session ends unless a heartbeat renews it."
)]
pub struct ExecutorListArguments {
    /// Only executors of this pool.
    #[arg(long)]
    pub pool: Option<PoolName>,
}

/// Shows the connected executors by name.
pub async fn run(
    arguments: &ExecutorListArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let (mut table, now) = (Table::new(COLUMNS), clock::wall());
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let executors = connection.client.executors(arguments.pool.as_ref(), &page).await;
        let executors = executors.map_err(|error| operator_failure(&error))?;
        match connection.format {
            Format::Json => output::document(executors.json())?,
            Format::Table => {
                executors.data.iter().for_each(|executor| table.row(cells(executor, now)));
                output::text(&table.take())?;
            }
        }
        request = executors.next(&page);
    }
    Ok(())
}

fn cells(executor: &Executor, now: Timestamp) -> [String; 10] {
    let (has, free) = (executor.capacity, executor.free);
    let of = |free: u32, has: u32| format!("{free}/{has}");
    let state = match executor.quarantined_at {
        Some(at) => format!("quarantined {}", age::ago(at, now)),
        None if executor.draining => "draining".to_owned(),
        None => "active".to_owned(),
    };
    [
        executor.id.to_string(),
        executor.pool.to_string(),
        state,
        executor.running.to_string(),
        of(free.cpu_millis, has.cpu_millis),
        of(free.memory_mib, has.memory_mib),
        of(free.disk_mib, has.disk_mib),
        age::ago(executor.started_at, now),
        age::ago(executor.expires_at, now),
        executor.version.clone(),
    ]
}
