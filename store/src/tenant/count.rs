//! Counts what a tenant holds, a slice of its live tasks at a time.
//!
//! For the api's quotas ([`holding`](super::holding()), with `CountDb`) and for the scheduler's warnings. The rule: no statement reads
//! more live tasks than one slice has, however many a tenant holds, so that none of them takes long, and whoever counts may stop
//! and go on. A count of many slices is of no one moment: what is submitted meanwhile comes last and is in it, because ids
//! grow, and what ends behind it is in it still.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::patient;
use domain::id::TenantId;
use sqlx::PgConnection;
use std::time::Duration;
use uuid::Uuid;

/// What a tenant holds now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    /// Tasks that have not ended.
    pub backlog: u64,
    /// Of these, tasks queued, running or cancelling.
    pub running_tasks: u64,
}

/// A count on its way; begins as its default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    so_far: Holding,
    /// The last task that is in it.
    after: Uuid,
}

/// Counts the next slice. When that was the last, or `most` tasks were found, it says what the tenant holds: of more than `most`
/// the figures are only a lower bound.
pub(super) async fn slice(
    tx: &mut PgConnection,
    tenant: TenantId,
    count: &mut Count,
    most: u64,
) -> Result<Option<Holding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "tasks!", count(*) filter (where t.state in ('queued', 'running', 'cancelling')) as "running!",
                (array_agg(t.id) filter (where t.nth = 20000))[1] as "last?"
            from (
                -- All of a tenant, up to a slice.
                select l.id, l.state, row_number() over (order by l.id) as nth
                from task l where l.tenant_id = $1 and l.id > $2 order by l.id limit 20000) t"#,
        tenant.uuid(),
        count.after
    );
    let rows = patient("tenant.count", query.fetch_all(tx)).await?;
    let mut held = count.so_far;
    for row in &rows {
        held.backlog += row.tasks.unsigned_abs();
        held.running_tasks += row.running.unsigned_abs();
    }
    // A slice that is not full is the last.
    match rows.first().and_then(|row| row.last) {
        Some(last) if held.backlog < most => {
            *count = Count { so_far: held, after: last };
            Ok(None)
        }
        Some(_) | None => Ok(Some(held)),
    }
}

/// [`slice`] for the scheduler, which waits no longer than `limit` for one.
///
/// # Errors
/// [`StoreError::Timeout`] when it took longer; when the database cannot answer.
pub async fn count_slice(
    db: &SchedulerDb,
    tenant: TenantId,
    count: &mut Count,
    most: u64,
    limit: Duration,
) -> Result<Option<Holding>, StoreError> {
    let mut tx = db.begin_within(limit).await?;
    slice(&mut tx, tenant, count, most).await
}
