//! Pauses a pool: nothing of it is handed out until it is resumed. What runs goes on, and tasks for it are taken.
//!
//! The batcher reads it within a second. What was handed out a moment before may still start.

use super::record::{Pause, PoolRecord, lock};
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PoolName;
use serde_json::{Value, json};

/// Pauses `pool`, in the request of `by`, and answers how it stands now; `None` where there is no such pool. One that is
/// paused stays so since then, with this reason (up to 500 characters).
///
/// # Errors
/// When the database cannot answer.
pub async fn pause(
    db: &AdminDb,
    pool: &PoolName,
    because: &str,
    by: By,
) -> Result<Option<PoolRecord>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(before) = lock(&mut tx, pool).await? else { return Ok(None) };
    if before.pause.as_ref().is_some_and(|pause| pause.because == because) {
        return Ok(Some(before));
    }
    let query = sqlx::query!(
        "update pool set paused_at = coalesce(paused_at, now()), paused_because = $2 where name = $1",
        pool.as_str(),
        because
    );
    named("pool.pause", query.execute(&mut *tx)).await?;
    let paused = lock(&mut tx, pool).await?;
    let act = Act::new(AuditAction::PoolPause, pool).to(audit_value(Some(because)));
    let act = act.from(audit_value(before.pause.as_ref().map(|pause| pause.because.as_str())));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(paused)
}

/// Resumes `pool`, in the request of `by`, and answers how it stands now; `None` where there is no such pool. One that is not
/// paused stays as it is.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(
    db: &AdminDb,
    pool: &PoolName,
    by: By,
) -> Result<Option<PoolRecord>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(before) = lock(&mut tx, pool).await? else { return Ok(None) };
    let Some(Pause { because, .. }) = &before.pause else { return Ok(Some(before)) };
    let query = sqlx::query!(
        "update pool set paused_at = null, paused_because = null where name = $1",
        pool.as_str()
    );
    named("pool.resume", query.execute(&mut *tx)).await?;
    let act = Act::new(AuditAction::PoolResume, pool)
        .from(audit_value(Some(because.as_str())))
        .to(audit_value(None));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Some(PoolRecord { pause: None, ..before }))
}

/// What the audit shows of a pause.
fn audit_value(because: Option<&str>) -> Value {
    json!({"paused_because": because})
}
