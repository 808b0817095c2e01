//! Deletes a pool that nothing is in.

use super::record::{audit_value, lock};
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PoolName;

/// What became of a pool that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolDeleted {
    /// It is gone.
    Yes,
    /// Tasks that have not ended, or executors that live, are in it; or it is `default`, which stays.
    InUse,
    /// It is in this version, and not in the one that was asked for.
    VersionMismatch {
        /// The version.
        version: i64,
    },
    /// There is none of this name.
    NotFound,
}

/// Deletes `pool`, in the request of `by`; only in version `if_version` where one is given. Its history stays, and schedules into it
/// make no task any more. A task that is submitted in the same moment is stored after it: the scheduler's housekeeping cancels it
/// ([`crate::task::transition::pool_deleted()`]).
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &AdminDb,
    pool: &PoolName,
    if_version: Option<i64>,
    by: By,
) -> Result<PoolDeleted, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(before) = lock(&mut tx, pool).await? else { return Ok(PoolDeleted::NotFound) };
    if if_version.is_some_and(|wanted| wanted != before.version) {
        return Ok(PoolDeleted::VersionMismatch { version: before.version });
    }
    let query = sqlx::query_scalar!(r#"select berth_pool_in_use($1) as "in_use!""#, pool.as_str());
    let in_use = named("pool.in_use", query.fetch_all(&mut *tx)).await?;
    if *pool == PoolName::default() || in_use.contains(&true) {
        return Ok(PoolDeleted::InUse);
    }
    let query = sqlx::query!("delete from pool where name = $1", pool.as_str());
    named("pool.delete", query.execute(&mut *tx)).await?;
    let act = Act::new(AuditAction::PoolDelete, pool).from(audit_value(&before.settings));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(PoolDeleted::Yes)
}
