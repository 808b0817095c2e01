//! Pools of executors, as operators see them.

use crate::DateTime;
use domain::id::{PlanName, PoolName, TenantId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pool {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: PoolName,
    /// Version, from 1; counts changes of the fields below up to `granted_to`.
    pub version: i64,
    /// Whether commands can use the network.
    pub command_network: bool,
    /// Whether HTTP tasks can call private, loopback and link-local addresses.
    pub private_targets: bool,
    /// Largest capacity of one executor.
    pub max_executor: MaxExecutor,
    /// Who may use it.
    pub granted_to: PoolGrants,
    /// The pause; null if not paused.
    pub paused: Option<PoolPaused>,
}

/// Largest capacity of one executor of a pool in each dimension; null: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MaxExecutor {
    /// Thousandths of a core.
    pub cpu_millis: Option<u32>,
    /// MiB of memory.
    pub memory_mib: Option<u32>,
    /// MiB of disk.
    pub disk_mib: Option<u32>,
    /// Disk operations per second.
    pub iops: Option<u32>,
    /// TCP ports.
    pub ports: Option<u32>,
}

impl From<domain::pool::MaxExecutor> for MaxExecutor {
    fn from(limits: domain::pool::MaxExecutor) -> Self {
        let domain::pool::MaxExecutor { cpu_millis, memory_mib, disk_mib, iops, ports } = limits;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

impl From<MaxExecutor> for domain::pool::MaxExecutor {
    fn from(limits: MaxExecutor) -> Self {
        let MaxExecutor { cpu_millis, memory_mib, disk_mib, iops, ports } = limits;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

/// Who may use a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolGrants {
    /// Every tenant.
    pub everyone: bool,
    /// The tenants on these plans.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub plans: BTreeSet<PlanName>,
    /// These tenants.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tenants: BTreeSet<TenantId>,
}

/// Pause of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolPaused {
    /// Since when.
    pub at: DateTime,
    /// Why.
    pub reason: String,
}

/// A deleted pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeletedPool {
    /// True.
    pub deleted: bool,
    /// Its name.
    pub name: PoolName,
}
