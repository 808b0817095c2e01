//! Pools of executors.

use domain::id::{PlanName, PoolName, TenantId};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pool {
    /// Its name.
    pub name: PoolName,
    /// Version, from 1; counts changes of its settings.
    pub version: i64,
    /// Its settings.
    #[serde(flatten)]
    pub settings: PoolSettings,
    /// The pause, if it is paused.
    pub paused: Option<PoolPause>,
}

/// Permissions and grants of a pool. The default allows nothing to nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolSettings {
    /// Whether commands can use the network.
    pub command_network: bool,
    /// Whether HTTP tasks can call private, loopback and link-local addresses.
    pub private_targets: bool,
    /// Largest capacity of one executor by dimension, such as `cpu_millis`; absent or `None`: no limit.
    pub max_executor: BTreeMap<String, Option<u32>>,
    /// Who may use it.
    pub granted_to: PoolGrants,
}

/// Who may use a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolGrants {
    /// Every tenant.
    pub everyone: bool,
    /// The tenants on these plans.
    pub plans: BTreeSet<PlanName>,
    /// These tenants.
    pub tenants: BTreeSet<TenantId>,
}

/// Pause of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PoolPause {
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}
