//! Tells tenants that a quota is nearly used up: one event a crossing, however many look.
//!
//! Of all that a tenant holds, whoever added to it. The caller lists tenants, counts each slice by slice
//! ([`count_slice`](super::count_slice)), and tells.

use super::count::Holding;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::plan::limits_of;
use crate::statement::named;
use domain::id::TenantId;
use uuid::Uuid;

/// A quota that is nearly used up, since just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearlyUsed {
    /// The tenant.
    pub tenant: TenantId,
    /// Which, by its name in the plan.
    pub quota: String,
    /// What is used; of more than the limit, perhaps only as much as that.
    pub used: u64,
    /// Of so much.
    pub limit: u64,
}

/// A tenant to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// The tenant.
    pub tenant: TenantId,
    /// Tasks that its plan lets it hold: no more need be counted.
    pub backlog: u64,
}

/// The next `tenants` that are not deleted, in the order of their ids, from `after` on.
///
/// # Errors
/// When the database cannot answer.
pub async fn watched(
    db: &SchedulerDb,
    after: Option<TenantId>,
    tenants: i64,
) -> Result<Vec<Watched>, StoreError> {
    let query = sqlx::query!(
        r#"select t.id, p.limits::text as "limits!" from tenant t join plan p on p.name = t.plan
            where t.id > $1 and t.state <> 'deleted' order by t.id limit $2"#,
        after.map_or(Uuid::nil(), TenantId::uuid),
        tenants
    );
    let rows = named("tenant.watched", query.fetch_all(db.pool())).await?;
    rows.into_iter()
        .map(|row| {
            let backlog = limits_of(&row.limits)?.backlog;
            Ok(Watched { tenant: TenantId(row.id), backlog: backlog.into() })
        })
        .collect()
}

/// Judges what a tenant holds, its tasks too where they could be counted. At 80 % of a quota it is told, and again only when it was
/// below 70 % in between.
///
/// # Errors
/// When the database cannot answer.
pub async fn tell_nearly_used(
    db: &SchedulerDb,
    tenant: TenantId,
    holding: Option<Holding>,
) -> Result<Vec<NearlyUsed>, StoreError> {
    let number = |of: fn(Holding) -> u64| {
        holding.map(|holding| i64::try_from(of(holding)).unwrap_or(i64::MAX))
    };
    let query = sqlx::query!(
        r#"with level as materialized (
            select l.quota, l.used, l.most
            from tenant g join plan p on p.name = g.plan
            cross join lateral (
                select coalesce(sum(u.bytes), 0)::bigint as bytes from output_use u where u.tenant_id = g.id) kept
            cross join lateral (values
                ('backlog', $2::bigint, (p.limits->>'backlog')::bigint),
                ('running_tasks', $3::bigint, (p.limits->>'running_tasks')::bigint),
                ('stored_output_bytes', kept.bytes, (p.limits->>'stored_output_bytes')::bigint)) l (quota, used, most)
            where g.id = $1 and g.state <> 'deleted' and l.most > 0 and l.used is not null
        ), crossed as (
            insert into tenant_quota_level as q (tenant_id, quota, above)
            select $1, l.quota, not coalesce(b.above, false)
            from level l left join tenant_quota_level b on b.tenant_id = $1 and b.quota = l.quota
            where case when b.above then l.used < 0.7 * l.most else l.used >= 0.8 * l.most end
            -- In order, so that two at once wait for each other in one direction only.
            order by l.quota
            on conflict (tenant_id, quota) do update set above = excluded.above where q.above <> excluded.above
            returning q.quota, q.above
        ), nearly as materialized (
            select l.quota, l.used, l.most from crossed c join level l on l.quota = c.quota where c.above
        ), told as (
            insert into task_event (tenant_id, kind, detail)
            select $1, 'quota_nearly_used', jsonb_build_object('quota', n.quota, 'used', n.used, 'limit', n.most) from nearly n
        )
        select n.quota as "quota!", n.used as "used!", n.most as "most!" from nearly n order by n.quota"#,
        tenant.uuid(),
        number(|holding| holding.backlog),
        number(|holding| holding.running_tasks)
    );
    let rows = named("tenant.tell_nearly_used", query.fetch_all(db.pool())).await?;
    let nearly_used = rows.into_iter().map(|row| NearlyUsed {
        tenant,
        quota: row.quota,
        used: row.used.unsigned_abs(),
        limit: row.most.unsigned_abs(),
    });
    Ok(nearly_used.collect())
}
