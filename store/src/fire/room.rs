//! Room for tasks in tenants' quotas.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::TenantId;
use uuid::Uuid;

/// Quotas up to this are counted each time. Larger ones are counted where the tenant is near its quota, as was noticed by whoever
/// watches all that tenants hold: below that it is far from being exceeded.
const COUNTED: i32 = 10_000;

/// For how many more tasks each of `tenants` has room, where that may be less than it wants.
///
/// # Errors
/// When the database cannot answer.
pub async fn rooms(
    db: &SchedulerDb,
    tenants: &[TenantId],
) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let ids: Vec<Uuid> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    let query = sqlx::query!(
        r#"select t.id as "id!", p.backlog - (
                -- All of a tenant, up to what its plan allows.
                select count(*) from (select from task k where k.tenant_id = t.id limit p.backlog) held) as "room!"
            from unnest($1::uuid[]) as i(id)
            cross join lateral (select o.id, o.plan from tenant o where o.id = i.id limit 1) t
            cross join lateral (select (o.limits->>'backlog')::integer as backlog from plan o where o.name = t.plan limit 1) p
            where p.backlog <= $2 or exists (
                select from tenant_quota_level l where l.tenant_id = t.id and l.quota = 'backlog' and l.above)"#,
        &ids,
        COUNTED
    );
    let rows = named("fire.rooms", query.fetch_all(db.pool())).await?;
    let rooms =
        rows.into_iter().map(|row| (TenantId(row.id), u64::try_from(row.room).unwrap_or(0)));
    Ok(rooms.collect())
}
