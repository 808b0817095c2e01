//! A pool as operators see it.

use crate::StoreError;
use crate::plan::name_of;
use crate::statement::{RowCount, named};
use domain::id::{PoolName, TenantId};
use domain::pool::{MaxExecutor, PoolGrants, PoolPolicy, PoolSettings};
use domain::resources::Dimension;
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A pool as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRecord {
    /// Its name.
    pub name: PoolName,
    /// Counts the changes of its settings, from 1.
    pub version: i64,
    /// What it allows, and to whom it is granted.
    pub settings: PoolSettings,
    /// Why nothing of it is handed out, while it is paused.
    pub pause: Option<Pause>,
}

/// Why nothing of a pool is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub at: Timestamp,
    /// Why, for people; up to 500 characters.
    pub because: String,
}

/// A row as the statements give it.
pub(super) struct PoolRow {
    pub name: String,
    pub version: i64,
    pub command_network: bool,
    pub private_targets: bool,
    pub max_executor: Vec<Option<i32>>,
    pub everyone: bool,
    pub plans: Vec<String>,
    pub tenants: Vec<Uuid>,
    pub paused_at: Option<Timestamp>,
    pub paused_because: Option<String>,
}

impl RowCount for PoolRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl TryFrom<PoolRow> for PoolRecord {
    type Error = StoreError;

    fn try_from(row: PoolRow) -> Result<Self, StoreError> {
        let because = row.paused_because.unwrap_or_default();
        let plans = row.plans.into_iter().map(name_of).collect::<Result<_, _>>()?;
        Ok(Self {
            name: row.name.parse().map_err(|_| StoreError::Malformed {
                what: "name",
                row: "a pool".into(),
                value: row.name,
            })?,
            version: row.version,
            settings: PoolSettings {
                policy: PoolPolicy {
                    command_network: row.command_network,
                    private_targets: row.private_targets,
                },
                max_executor: limits(&row.max_executor),
                grants: PoolGrants {
                    everyone: row.everyone,
                    plans,
                    tenants: row.tenants.into_iter().map(TenantId).collect(),
                },
            },
            pause: row.paused_at.map(|at| Pause { at, because }),
        })
    }
}

/// The limits of a row, in the order of [`Dimension::ALL`].
fn limits(row: &[Option<i32>]) -> MaxExecutor {
    let mut limits = MaxExecutor::default();
    for (dimension, most) in Dimension::ALL.into_iter().zip(row) {
        *limits.of_mut(dimension) = most.map(i32::unsigned_abs);
    }
    limits
}

/// How a pool is, to the end of the transaction.
pub(super) async fn lock(
    tx: &mut PgConnection,
    pool: &PoolName,
) -> Result<Option<PoolRecord>, StoreError> {
    let query = sqlx::query_as!(
        PoolRow,
        r#"select p.name, p.version, p.command_network, p.private_targets, p.everyone, p.paused_at, p.paused_because,
                array[p.max_executor_cpu_millis, p.max_executor_memory_mib, p.max_executor_disk_mib, p.max_executor_iops, p.max_executor_ports]
                    as "max_executor!: Vec<Option<i32>>",
                array(select g.plan from pool_granted_plan g where g.pool = p.name order by g.plan) as "plans!",
                array(select g.tenant_id from pool_granted_tenant g where g.pool = p.name order by g.tenant_id) as "tenants!"
            from pool p where p.name = $1 for update"#,
        pool.as_str()
    );
    let row = named("pool.lock", query.fetch_optional(tx)).await?;
    row.map(TryInto::try_into).transpose()
}

/// What the audit shows of a pool's settings.
pub(super) fn audit_value(PoolSettings { policy, max_executor, grants }: &PoolSettings) -> Value {
    let limits = Dimension::ALL.into_iter().zip(max_executor.dimensions());
    json!({
        "command_network": policy.command_network,
        "private_targets": policy.private_targets,
        "max_executor": limits.map(|(dimension, most)| (dimension.as_str(), most)).collect::<BTreeMap<_, _>>(),
        "granted_to": {"everyone": grants.everyone, "plans": grants.plans, "tenants": grants.tenants},
    })
}
