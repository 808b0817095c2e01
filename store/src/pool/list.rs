//! Every pool, by name, for those who ask. They are few: a list ends at 1000.

use super::granted::granted;
use super::record::{PoolRecord, PoolRow};
use crate::StoreError;
use crate::connect::{AdminDb, SchedulerDb, SubmitDb};
use crate::own::on_own;
use crate::statement::named;
use domain::id::PoolName;
use domain::pool::PoolGrants;
use domain::resources::Resources;

/// More pools than an installation has.
const MOST: i64 = 1000;

/// Kinds of executors that are audit_value apart, at most: by what they have.
const MOST_KINDS: i64 = 10_000;

/// A pool as the batcher sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchPool {
    /// Its name.
    pub name: PoolName,
    /// Nothing of it may be handed out.
    pub paused: bool,
}

/// A pool as submits see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmitPool {
    /// Its name.
    pub name: PoolName,
    /// Who may use it.
    pub grants: PoolGrants,
    /// All that each kind of its executors has, used or not.
    pub executors: Vec<Resources>,
}

/// The pools for submits: a paused pool takes tasks, too.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &SubmitDb) -> Result<Vec<SubmitPool>, StoreError> {
    let query = sqlx::query!(
        r#"select p.name, p.everyone, e.cpu_millis as "cpu?", e.memory_mib as "memory?", e.disk_mib as "disk?", e.iops as "iops?", e.ports as "ports?"
            from (select o.name, o.everyone from pool o order by o.name limit $1) p
            left join (
                select distinct s.pool, s.cpu_millis, s.memory_mib, s.disk_mib, s.iops, s.port_count as ports
                from executor_session s
                -- One that has lapsed lately may be back in a moment.
                where s.ended_at is null and s.expires_at > now() - interval '1 minute' limit $2) e on e.pool = p.name
            order by p.name"#,
        MOST,
        MOST_KINDS
    );
    let rows = named("pool.list", query.fetch_all(db.pool())).await?;
    let mut granted = granted(db.pool()).await?;
    let mut pools: Vec<SubmitPool> = Vec::new();
    for row in rows {
        // The table's check admits only names that parse.
        let Ok(name) = row.name.parse::<PoolName>() else { continue };
        if pools.last().is_none_or(|pool| pool.name != name) {
            let grants = granted.remove(name.as_str()).unwrap_or_default();
            let grants = PoolGrants { everyone: row.everyone, ..grants };
            pools.push(SubmitPool { name, grants, executors: Vec::new() });
        }
        let kind = [row.cpu, row.memory, row.disk, row.iops, row.ports].map(|n| n.unwrap_or(0));
        if row.cpu.is_some()
            && let Some(pool) = pools.last_mut()
        {
            pool.executors.push(Resources::from_dimensions(kind.map(i32::unsigned_abs)));
        }
    }
    Ok(pools)
}

/// The pools for the batcher.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_dispatch(db: &SchedulerDb) -> Result<Vec<DispatchPool>, StoreError> {
    let query = sqlx::query!(
        r#"select name, paused_at is not null as "paused!" from pool order by name limit $1"#,
        MOST
    );
    let rows = on_own!(db.dispatch(), "pool.list_for_dispatch", query.fetch_all);
    let pool = |name: String, paused| Some(DispatchPool { name: name.parse().ok()?, paused });
    Ok(rows.into_iter().filter_map(|row| pool(row.name, row.paused)).collect())
}

/// The pools with all that is known of them.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_operator(db: &AdminDb) -> Result<Vec<PoolRecord>, StoreError> {
    let query = sqlx::query_as!(
        PoolRow,
        r#"select p.name, p.version, p.command_network, p.private_targets, p.everyone, p.paused_at, p.paused_because,
                array[p.max_executor_cpu_millis, p.max_executor_memory_mib, p.max_executor_disk_mib, p.max_executor_iops, p.max_executor_ports]
                    as "max_executor!: Vec<Option<i32>>",
                array(select g.plan from pool_granted_plan g where g.pool = p.name order by g.plan) as "plans!",
                array(select g.tenant_id from pool_granted_tenant g where g.pool = p.name order by g.tenant_id) as "tenants!"
            from pool p order by p.name limit $1"#,
        MOST
    );
    let rows = named("pool.list_for_operator", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// The pool of this name, with all that is known of it.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(db: &AdminDb, name: &PoolName) -> Result<Option<PoolRecord>, StoreError> {
    let query = sqlx::query_as!(
        PoolRow,
        r#"select p.name, p.version, p.command_network, p.private_targets, p.everyone, p.paused_at, p.paused_because,
                array[p.max_executor_cpu_millis, p.max_executor_memory_mib, p.max_executor_disk_mib, p.max_executor_iops, p.max_executor_ports]
                    as "max_executor!: Vec<Option<i32>>",
                array(select g.plan from pool_granted_plan g where g.pool = p.name order by g.plan) as "plans!",
                array(select g.tenant_id from pool_granted_tenant g where g.pool = p.name order by g.tenant_id) as "tenants!"
            from pool p where p.name = $1"#,
        name.as_str()
    );
    let row = named("pool.find", query.fetch_optional(db.pool())).await?;
    row.map(TryInto::try_into).transpose()
}
