//! Looks for quotas that are nearly used up, and tells their tenants: one event a crossing, however many look.
//!
//! Of all that a tenant holds, whoever added to it. From the rows themselves, so it costs what live tasks there are: the caller
//! goes from page to page and rests in between.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::TenantId;
use uuid::Uuid;

/// A quota that is nearly used up, since just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearlyUsed {
    /// Whose.
    pub tenant: TenantId,
    /// Which, by its name in the plan.
    pub quota: String,
    /// What is used.
    pub used: u64,
    /// Of so much.
    pub limit: u64,
}

/// A page of tenants that was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// The last of them; nothing where there were none.
    pub last: Option<TenantId>,
    /// What was told.
    pub told: Vec<NearlyUsed>,
}

/// Looks at the next `tenants` that are not deleted, in the order of their ids, from `after` on. At 80 % of a quota its tenant is
/// told, and again only when it was below 70 % in between.
///
/// # Errors
/// When the database cannot answer.
pub async fn watch_quotas(
    db: &SchedulerDb,
    after: Option<TenantId>,
    tenants: i64,
) -> Result<Watched, StoreError> {
    let query = sqlx::query!(
        r#"with page as materialized (
            select t.id, p.backlog, p.running_tasks, p.stored_output_bytes
            from tenant t join plan p on p.name = t.plan
            where t.id > $1 and t.state <> 'deleted' order by t.id limit $2
        ), level as materialized (
            select g.id as tenant_id, l.quota, l.used, l.most
            from page g
            cross join lateral (
                select count(*) as backlog, count(*) filter (where h.state in ('queued', 'running', 'cancelling')) as running_tasks
                from (
                    -- All of a tenant, up to the largest backlog that a plan may allow.
                    select k.state from task k where k.tenant_id = g.id limit 100000000) h) held
            cross join lateral (
                select coalesce(sum(u.bytes), 0)::bigint as bytes from output_use u where u.tenant_id = g.id) kept
            cross join lateral (values
                ('backlog', held.backlog, g.backlog::bigint),
                ('running_tasks', held.running_tasks, g.running_tasks::bigint),
                ('stored_output_bytes', kept.bytes, g.stored_output_bytes)) l (quota, used, most)
            where l.most > 0
        ), crossed as (
            insert into tenant_quota_level as q (tenant_id, quota, above)
            select l.tenant_id, l.quota, not coalesce(b.above, false)
            from level l left join tenant_quota_level b on b.tenant_id = l.tenant_id and b.quota = l.quota
            where case when b.above then l.used < 0.7 * l.most else l.used >= 0.8 * l.most end
            -- In order, so that two at once wait for each other in one direction only.
            order by l.tenant_id, l.quota
            on conflict (tenant_id, quota) do update set above = excluded.above where q.above <> excluded.above
            returning q.tenant_id, q.quota, q.above
        ), nearly as materialized (
            select l.tenant_id, l.quota, l.used, l.most
            from crossed c join level l on l.tenant_id = c.tenant_id and l.quota = c.quota where c.above
        ), told as (
            insert into tenant_event (tenant_id, kind, detail)
            select n.tenant_id, 'quota_nearly_used', jsonb_build_object('quota', n.quota, 'used', n.used, 'limit', n.most) from nearly n
        )
        select g.id, n.quota as "quota?", n.used as "used?", n.most as "most?"
        from page g left join nearly n on n.tenant_id = g.id order by g.id, n.quota"#,
        after.map_or(Uuid::nil(), TenantId::uuid),
        tenants
    );
    let rows = named("tenant.watch_quotas", query.fetch_all(db.pool())).await?;
    let last = rows.last().map(|row| TenantId(row.id));
    let told = rows.into_iter().filter_map(|row| {
        let (quota, used, limit) = (row.quota?, row.used?, row.most?);
        let tenant = TenantId(row.id);
        Some(NearlyUsed { tenant, quota, used: used.unsigned_abs(), limit: limit.unsigned_abs() })
    });
    Ok(Watched { last, told: told.collect() })
}
