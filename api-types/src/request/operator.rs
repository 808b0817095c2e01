//! What operators store: tenants and pools.

use crate::{MaxExecutor, Pool, PoolGrants};
use domain::id::{PlanName, TenantId};
use domain::tenant::TenantState;
use serde::{Deserialize, Deserializer, Serialize};

/// A tenant to create.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantCreate {
    /// 1 to 200 visible characters, stored in Unicode NFKC with single spaces. Unique, ignoring case.
    pub name: String,
    /// Default: `default`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub plan: PlanName,
    /// Scheduling weight, more than 0, up to 1000. Default: the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A tenant, all of it but its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantPut {
    /// Default: `default`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub plan: PlanName,
    /// Scheduling weight, more than 0, up to 1000. Default: the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// `active` or `suspended`. Default: `active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<crate::openapi::words::TenantState>)
    )]
    pub state: Option<TenantState>,
}

/// Changes; omitted fields stay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantChange {
    /// Its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub plan: Option<PlanName>,
    /// Scheduling weight; null: the plan's.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>))]
    pub weight: Option<Option<f64>>,
}

/// Tells null from nothing.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Permissions and grants of a pool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolPut {
    /// Whether commands can use the network. Default false.
    #[serde(default)]
    pub command_network: bool,
    /// Whether HTTP tasks can call private, loopback and link-local addresses. Default false.
    #[serde(default)]
    pub private_targets: bool,
    /// Largest capacity of one executor. Default: no limit.
    #[serde(default)]
    pub max_executor: MaxExecutorPut,
    /// Who may use it. Default: no tenant.
    #[serde(default)]
    pub granted_to: PoolGrantsPut,
}

/// As it is, for a change of a part of it.
impl From<&Pool> for PoolPut {
    fn from(pool: &Pool) -> Self {
        let PoolGrants { everyone, plans, tenants } = &pool.granted_to;
        let MaxExecutor { cpu_millis, memory_mib, disk_mib, iops, ports } = pool.max_executor;
        Self {
            command_network: pool.command_network,
            private_targets: pool.private_targets,
            max_executor: MaxExecutorPut { cpu_millis, memory_mib, disk_mib, iops, ports },
            granted_to: PoolGrantsPut {
                everyone: *everyone,
                plans: plans.iter().cloned().collect(),
                tenants: tenants.iter().copied().collect(),
            },
        }
    }
}

/// Largest capacity of one executor of a pool in each dimension: 0 to 2147483647; null (default): no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MaxExecutorPut {
    /// Thousandths of a core.
    #[cfg_attr(feature = "openapi", schema(maximum = 2_147_483_647_u32))]
    pub cpu_millis: Option<u32>,
    /// MiB of memory.
    #[cfg_attr(feature = "openapi", schema(maximum = 2_147_483_647_u32))]
    pub memory_mib: Option<u32>,
    /// MiB of disk.
    #[cfg_attr(feature = "openapi", schema(maximum = 2_147_483_647_u32))]
    pub disk_mib: Option<u32>,
    /// Disk operations per second.
    #[cfg_attr(feature = "openapi", schema(maximum = 2_147_483_647_u32))]
    pub iops: Option<u32>,
    /// TCP ports.
    #[cfg_attr(feature = "openapi", schema(maximum = 2_147_483_647_u32))]
    pub ports: Option<u32>,
}

impl From<domain::pool::MaxExecutor> for MaxExecutorPut {
    fn from(limits: domain::pool::MaxExecutor) -> Self {
        let domain::pool::MaxExecutor { cpu_millis, memory_mib, disk_mib, iops, ports } = limits;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

impl From<MaxExecutorPut> for domain::pool::MaxExecutor {
    fn from(limits: MaxExecutorPut) -> Self {
        let MaxExecutorPut { cpu_millis, memory_mib, disk_mib, iops, ports } = limits;
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

/// Who may use a pool: everyone, the tenants on these plans, and these tenants. Grants beside `everyone` are kept, and count when it is
/// taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolGrantsPut {
    /// Every tenant, also future ones. Default false.
    #[serde(default)]
    pub everyone: bool,
    /// The tenants on these plans. Default: none; with `tenants` at most 300.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub plans: Vec<PlanName>,
    /// These tenants. Default none.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tenants: Vec<TenantId>,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolPause {
    /// Reason, shown with the pool.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 500))]
    pub reason: String,
}
