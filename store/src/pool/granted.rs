//! To whom pools are granted, for those who judge by it.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{PoolName, TenantId};
use domain::pool::PoolGrants;
use sqlx::PgPool;
use std::collections::HashMap;
use uuid::Uuid;

/// More grants than an installation has; what comes behind is granted to nobody.
pub(super) const MOST: i64 = 1_000_000;

/// Every pool with its grants, for schedulers, who fire into them.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_fires(db: &SchedulerDb) -> Result<HashMap<PoolName, PoolGrants>, StoreError> {
    let query = sqlx::query!(
        r#"select p.name as "name!", p.everyone as "everyone!", null::text as plan, null::uuid as tenant_id from pool p
            union all select g.pool, false, g.plan, null from pool_granted_plan g
            union all select g.pool, false, null, g.tenant_id from pool_granted_tenant g
            limit $1"#,
        MOST
    );
    let rows = named("pool.list_for_fires", query.fetch_all(db.fire_pool())).await?;
    let mut pools = HashMap::<PoolName, PoolGrants>::new();
    for row in rows {
        // The table's check admits only names that parse.
        let Ok(name) = row.name.parse::<PoolName>() else { continue };
        let grants = pools.entry(name).or_default();
        grants.everyone |= row.everyone;
        add(grants, row.plan.as_deref(), row.tenant_id);
    }
    Ok(pools)
}

/// The grants to plans and tenants, by pool, for whoever submits.
pub(super) async fn granted(db: &PgPool) -> Result<HashMap<String, PoolGrants>, StoreError> {
    let query = sqlx::query!(
        r#"select g.pool as "pool!", g.plan, null::uuid as tenant_id from pool_granted_plan g
            union all select g.pool, null, g.tenant_id from pool_granted_tenant g limit $1"#,
        MOST
    );
    let rows = named("pool.granted", query.fetch_all(db)).await?;
    let mut pools = HashMap::<String, PoolGrants>::new();
    for row in rows {
        add(pools.entry(row.pool).or_default(), row.plan.as_deref(), row.tenant_id);
    }
    Ok(pools)
}

fn add(grants: &mut PoolGrants, plan: Option<&str>, tenant: Option<Uuid>) {
    grants.plans.extend(plan.and_then(|plan| plan.parse().ok()));
    grants.tenants.extend(tenant.map(TenantId));
}
