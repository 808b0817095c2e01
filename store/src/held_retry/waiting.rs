//! For which targets tasks wait, and among how many resource managers their budgets are divided.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::budget::TargetKey;
use domain::id::TenantId;

/// What a resource manager needs to know of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Targets for which tasks wait, whoever held them.
    pub targets: Vec<TargetKey>,
    /// Resource managers that have executors, the caller counted once at least.
    pub managers: u32,
}

/// Targets for which tasks wait, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn waiting(db: &RmDb, limit: i64) -> Result<Waiting, StoreError> {
    // From one target to the next, however many wait for it.
    let query = sqlx::query!(
        r#"with recursive target as (
                (select h.tenant_id, h.target from held_retry h order by h.tenant_id, h.target limit 1)
                union all
                select n.tenant_id, n.target from target t cross join lateral (
                    select h.tenant_id, h.target from held_retry h where (h.tenant_id, h.target) > (t.tenant_id, t.target)
                    order by h.tenant_id, h.target limit 1) n
            )
            select m.managers as "managers!", t.tenant_id as "tenant_id?", t.target as "target?"
            from (select count(distinct l.owner) as managers from pool_load l
                where l.reported_at > clock_timestamp() - interval '3 seconds') m
            left join (select f.tenant_id, f.target from target f limit $1) t on true"#,
        limit
    );
    let rows = named("held_retry.waiting", query.fetch_all(db.pool())).await?;
    let managers = rows.first().map_or(1, |row| row.managers);
    let targets = rows.into_iter().filter_map(|row| {
        Some(TargetKey { tenant: TenantId(row.tenant_id?), target: row.target?.into() })
    });
    Ok(Waiting {
        targets: targets.collect(),
        managers: u32::try_from(managers).unwrap_or(u32::MAX).max(1),
    })
}
