//! Tells tenants of due times that nobody fired.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};
use domain::time::{Timestamp, millis};
use std::time::Duration;

/// A due time that has no row though it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// The tenant.
    pub tenant: TenantId,
    /// Of which schedule.
    pub schedule: ScheduleId,
    /// What its owner calls that.
    pub name: String,
    /// The due time.
    pub due_at: Timestamp,
}

/// Tells of due times that should have been fired longer than `age` ago, each once, however many look; at most `limit` of a shard.
///
/// # Errors
/// When the database cannot answer.
pub async fn tell_missed(
    db: &SchedulerDb,
    age: Duration,
    limit: i64,
) -> Result<Vec<Missed>, StoreError> {
    let query = sqlx::query!(
        r#"with missed as materialized (
                select s.id from (select shard from schedule_shard order by shard limit 2000) h
                cross join lateral (
                    select n.id from schedule n
                    where n.shard = h.shard and n.fire_at < now() - $1 * interval '1 millisecond'
                        and n.told_missed is distinct from n.due_at and n.deleted_at is null
                    order by n.fire_at limit $2 for no key update skip locked) s
            ), noted as (
                update schedule s set told_missed = s.due_at from missed m
                where s.id = any (array[m.id]) returning s.tenant_id, s.id, s.name, s.due_at
            ), told as (
                insert into task_event (tenant_id, kind, detail)
                select n.tenant_id, 'fire_missed', jsonb_build_object('schedule', n.name,
                    'schedule_id', 'schedule_' || replace(n.id::text, '-', ''), 'due_at', n.due_at) from noted n
            )
            select tenant_id, id, name, due_at as "due_at!" from noted"#,
        millis(age) as f64,
        limit
    );
    let rows = named("fire.tell_missed", query.fetch_all(db.pool())).await?;
    let missed = rows.into_iter().map(|row| Missed {
        tenant: TenantId(row.tenant_id),
        schedule: ScheduleId(row.id),
        name: row.name,
        due_at: row.due_at,
    });
    Ok(missed.collect())
}
