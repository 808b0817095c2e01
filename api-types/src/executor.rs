//! Connected executors, as operators see them.

use crate::{DateTime, SessionLabel};
use domain::id::{ExecutorId, PoolName};
use domain::resources::Resources;
use serde::{Deserialize, Serialize};

/// A connected executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Executor {
    /// Its name (`executor.id`).
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: ExecutorId,
    /// Its session as logs show it. Another one after each start.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub session: SessionLabel,
    /// Its pool.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub pool: PoolName,
    /// Whether it only finishes what runs.
    pub draining: bool,
    /// Version of its program.
    pub version: String,
    /// When the session began.
    pub started_at: DateTime,
    /// When the session ends. Each heartbeat moves it.
    pub expires_at: DateTime,
    /// Since when it only gets single tasks on trial, because it returned those before; null if it does not.
    pub quarantined_at: Option<DateTime>,
    /// Attempts that run on it.
    pub running: u64,
    /// What it has.
    pub capacity: Quantities,
    /// What is left of it. Cpu may be oversubscribed.
    pub free: Quantities,
}

/// Amounts of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quantities {
    /// Thousandths of a core.
    pub cpu_millis: u32,
    /// MiB of memory.
    pub memory_mib: u32,
    /// MiB of disk.
    pub disk_mib: u32,
    /// Disk operations per second.
    pub iops: u32,
    /// TCP ports.
    pub ports: u32,
}

impl From<Resources> for Quantities {
    fn from(amounts: Resources) -> Self {
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = amounts;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}
