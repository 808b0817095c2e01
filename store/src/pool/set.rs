//! Stores a pool, or changes what it allows and to whom it is granted.
//!
//! The row of the pool is locked from the look to the commit: of two changes at once one comes after the other, and the version that
//! was asked for is that of the row.

use super::record::{PoolRecord, audit_value, lock};
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::{PlanName, PoolName, TenantId};
use domain::pool::{PoolGrants, PoolSettings};
use domain::resources::Dimension;
use sqlx::PgConnection;
use std::collections::{BTreeMap, BTreeSet};

/// A pool as it is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutPool {
    /// What it allows, and to whom it is granted.
    pub settings: PoolSettings,
    /// Only in this version; 0: only where there is none.
    pub if_version: Option<i64>,
}

/// What is to be changed of a pool; of one that is new, all else is off, and it is granted to nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolChange {
    /// Whether commands reach the network of their executor.
    pub command_network: Option<bool>,
    /// Whether HTTP tasks reach private addresses.
    pub private_targets: Option<bool>,
    /// The most that one executor may offer in these dimensions; `None`: no limit.
    pub max_executor: BTreeMap<Dimension, Option<u32>>,
    /// Whether it is granted to every tenant.
    pub everyone: Option<bool>,
    /// Granted to these beside those to whom it is.
    pub grant: PoolGrants,
    /// No longer granted to these.
    pub revoke: PoolGrants,
}

/// What became of a pool that was to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolStored {
    /// It is new.
    Created(PoolRecord),
    /// It is changed.
    Updated(PoolRecord),
    /// It was so.
    Unchanged(PoolRecord),
    /// It is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
    /// These plans and tenants do not exist; nothing was stored.
    Unknown {
        /// The plans.
        plans: Vec<PlanName>,
        /// The tenants; a deleted one counts as none.
        tenants: Vec<TenantId>,
    },
}

/// Stores `pool` as `put` says, in the request of `by`.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &AdminDb,
    pool: &PoolName,
    put: PutPool,
    by: By,
) -> Result<PoolStored, StoreError> {
    store(db, pool, put.if_version, |_| put.settings.clone(), by).await
}

/// Changes what `change` names of `pool`, in the request of `by`; stores it where there is none.
///
/// # Errors
/// When the database cannot answer.
pub async fn set(
    db: &AdminDb,
    pool: &PoolName,
    change: PoolChange,
    by: By,
) -> Result<PoolStored, StoreError> {
    store(db, pool, None, |before| change.over(before), by).await
}

impl PoolChange {
    fn over(&self, before: Option<&PoolRecord>) -> PoolSettings {
        let before = before.map(|before| before.settings.clone()).unwrap_or_default();
        let PoolSettings { mut policy, mut max_executor, mut grants } = before;
        policy.command_network = self.command_network.unwrap_or(policy.command_network);
        policy.private_targets = self.private_targets.unwrap_or(policy.private_targets);
        for (dimension, most) in &self.max_executor {
            *max_executor.of_mut(*dimension) = *most;
        }
        grants.everyone = self.everyone.unwrap_or(grants.everyone);
        grants.plans.extend(self.grant.plans.iter().cloned());
        grants.plans.retain(|plan| !self.revoke.plans.contains(plan));
        grants.tenants.extend(&self.grant.tenants);
        grants.tenants.retain(|tenant| !self.revoke.tenants.contains(tenant));
        PoolSettings { policy, max_executor, grants }
    }
}

async fn store(
    db: &AdminDb,
    pool: &PoolName,
    if_version: Option<i64>,
    wanted: impl Fn(Option<&PoolRecord>) -> PoolSettings,
    by: By,
) -> Result<PoolStored, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let mut before = lock(&mut tx, pool).await?;
    if let Some(wanted) = if_version
        && before.as_ref().map_or(0, |before| before.version) != wanted
    {
        let version = before.map(|before| before.version);
        return Ok(PoolStored::VersionMismatch { version });
    }
    let is_new = before.is_none() && make(&mut tx, pool).await?;
    if before.is_none() && !is_new {
        // Another has made it since the look.
        before = lock(&mut tx, pool).await?;
        if let Some(version) = before.as_ref().map(|b| b.version).filter(|_| if_version == Some(0))
        {
            return Ok(PoolStored::VersionMismatch { version: Some(version) });
        }
    }
    let settings = wanted(before.as_ref());
    let held = before.as_ref().map(|before| &before.settings.grants);
    let (plans, tenants) = unknown(&mut tx, held, &settings.grants).await?;
    if !plans.is_empty() || !tenants.is_empty() {
        return Ok(PoolStored::Unknown { plans, tenants });
    }
    if let Some(same) = before.as_ref().filter(|before| before.settings == settings) {
        return Ok(PoolStored::Unchanged(same.clone()));
    }
    write(&mut tx, pool, &settings).await?;
    let mut act = Act::new(AuditAction::PoolSet, pool).to(audit_value(&settings));
    act.before = before.as_ref().map(|before| audit_value(&before.settings));
    audit::write(&mut tx, PLATFORM, by, act).await?;
    let after = lock(&mut tx, pool).await?.ok_or(StoreError::Contended)?;
    named("commit", tx.commit()).await?;
    Ok(if is_new { PoolStored::Created(after) } else { PoolStored::Updated(after) })
}

/// Makes the pool, granted to nobody; false where there is one by now.
async fn make(tx: &mut PgConnection, pool: &PoolName) -> Result<bool, StoreError> {
    let query = sqlx::query!(
        "insert into pool (name, version) values ($1, 0) on conflict do nothing",
        pool.as_str()
    );
    Ok(named("pool.make", query.execute(tx)).await?.rows_affected() == 1)
}

/// Those of `grants` that do not exist. What it is granted to already stays, whatever became of it since.
async fn unknown(
    tx: &mut PgConnection,
    held: Option<&PoolGrants>,
    grants: &PoolGrants,
) -> Result<(Vec<PlanName>, Vec<TenantId>), StoreError> {
    let none = PoolGrants::default();
    let held = held.unwrap_or(&none);
    let plans: Vec<_> = grants.plans.difference(&held.plans).cloned().collect();
    let tenants: Vec<_> = grants.tenants.difference(&held.tenants).copied().collect();
    if plans.is_empty() && tenants.is_empty() {
        return Ok((plans, tenants));
    }
    let query = sqlx::query!(
        r#"select p.name as "plan?", null::uuid as tenant from plan p where p.name = any ($1)
            union all select null, t.id from tenant t where t.id = any ($2) and t.state <> 'deleted'"#,
        &plans.iter().map(ToString::to_string).collect::<Vec<_>>(),
        &tenants.iter().map(|tenant| tenant.uuid()).collect::<Vec<_>>()
    );
    let rows = named("pool.grantees", query.fetch_all(tx)).await?;
    let known: BTreeSet<_> = rows.iter().filter_map(|row| row.plan.as_deref()).collect();
    let living: BTreeSet<_> = rows.iter().filter_map(|row| row.tenant).collect();
    let plans = plans.into_iter().filter(|plan| !known.contains(plan.as_str())).collect();
    let tenants = tenants.into_iter().filter(|id| !living.contains(&id.uuid())).collect();
    Ok((plans, tenants))
}

/// Writes what a pool that is locked allows from now on, and to whom it is granted.
async fn write(
    tx: &mut PgConnection,
    pool: &PoolName,
    PoolSettings { policy, max_executor, grants }: &PoolSettings,
) -> Result<(), StoreError> {
    let [cpu, memory, disk, iops, ports] = max_executor
        .dimensions()
        .map(|most| most.map(|most| i32::try_from(most).unwrap_or(i32::MAX)));
    let query = sqlx::query!(
        "with of_plans as (
                delete from pool_granted_plan where pool = $1 and plan <> all ($5)
            ), of_tenants as (
                delete from pool_granted_tenant where pool = $1 and tenant_id <> all ($6)
            ), to_plans as (
                insert into pool_granted_plan (pool, plan) select $1, unnest($5::text[]) on conflict do nothing
            ), to_tenants as (
                insert into pool_granted_tenant (pool, tenant_id) select $1, unnest($6::uuid[]) on conflict do nothing
            )
            update pool set command_network = $2, private_targets = $3, everyone = $4, version = version + 1,
                max_executor_cpu_millis = $7, max_executor_memory_mib = $8, max_executor_disk_mib = $9,
                max_executor_iops = $10, max_executor_ports = $11 where name = $1",
        pool.as_str(),
        policy.command_network,
        policy.private_targets,
        grants.everyone,
        &grants.plans.iter().map(ToString::to_string).collect::<Vec<_>>(),
        &grants.tenants.iter().map(|tenant| tenant.uuid()).collect::<Vec<_>>(),
        cpu,
        memory,
        disk,
        iops,
        ports
    );
    named("pool.set", query.execute(tx)).await.map(|_| ())
}
