//! An executor as operators see it.

use domain::resources::Resources;
use domain::time::Timestamp;
use serde::Serialize;
use store::session::ConnectedExecutor;
use utoipa::ToSchema;

/// A connected executor.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Executor)]
pub struct ExecutorView {
    /// Its name (`executor.id`).
    id: String,
    /// Its session as logs show it. Another one after each start.
    session: String,
    /// Its pool.
    pool: String,
    /// Whether it only finishes what runs.
    draining: bool,
    /// Version of its program.
    version: String,
    /// When the session began.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When the session ends. Each heartbeat moves it.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Since when it only gets single tasks on trial, because it returned those before; null if it does not.
    #[schema(value_type = Option<String>, format = DateTime)]
    quarantined_at: Option<Timestamp>,
    /// Attempts that run on it.
    running: u64,
    /// What it has.
    capacity: QuantitiesView,
    /// What is left of it. Cpu may be oversubscribed.
    free: QuantitiesView,
}

/// Amounts of resources.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quantities)]
pub struct QuantitiesView {
    /// Thousandths of a core.
    cpu_millis: u32,
    /// MiB of memory.
    memory_mib: u32,
    /// MiB of disk.
    disk_mib: u32,
    /// Disk operations per second.
    iops: u32,
    /// TCP ports.
    ports: u32,
}

impl From<Resources> for QuantitiesView {
    fn from(amounts: Resources) -> Self {
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = amounts;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

impl From<&ConnectedExecutor> for ExecutorView {
    fn from(executor: &ConnectedExecutor) -> Self {
        let (has, granted) = (executor.capacity, executor.granted);
        let free = Resources {
            cpu_millis: has.cpu_millis.saturating_sub(granted.cpu_millis),
            memory_mib: has.memory_mib.saturating_sub(granted.memory_mib),
            disk_mib: has.disk_mib.saturating_sub(granted.disk_mib),
            iops: has.iops.saturating_sub(granted.iops),
            ports: has.ports.saturating_sub(granted.ports),
        };
        Self {
            id: executor.executor.clone(),
            session: executor.session.to_string(),
            pool: executor.pool.clone(),
            draining: executor.draining,
            version: executor.version.clone(),
            started_at: executor.started_at,
            expires_at: executor.expires_at,
            quarantined_at: executor.quarantined_at,
            running: executor.running,
            capacity: has.into(),
            free: free.into(),
        }
    }
}
