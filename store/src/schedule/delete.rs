//! Deletes a schedule. Its tasks go on; its ledger is dropped with its days.
//!
//! Due times that had come before and have no row yet get one: where there are any, the row stays for the schedulers, without its name,
//! and nobody else sees it.

use super::lock::lock_to_edit;
use super::record::ScheduleRecord;
use super::span;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::scoped::Scoped;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::time::Timestamp;
use sqlx::PgConnection;

/// What became of a schedule that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// It is gone, and nothing of it fires any more.
    Deleted,
    /// It is in this version.
    VersionMismatch {
        /// In which.
        version: i64,
    },
    /// The tenant has none of this name.
    NotFound,
}

/// Deletes the tenant's schedule of this name; only in version `if_version`, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    if_version: Option<i64>,
) -> Result<DeleteAnswer, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let (mut stored, at) = match lock_to_edit(&mut tx, scope, name).await {
        Ok(Some(stored)) => stored,
        Ok(None) => return Ok(DeleteAnswer::NotFound),
        // It was locked; only what it says is unknown.
        Err(StoreError::Malformed { .. }) => return delete_unreadable(tx, scope, name).await,
        Err(error) => return Err(error),
    };
    if if_version.is_some_and(|wanted| wanted != stored.version) {
        return Ok(DeleteAnswer::VersionMismatch { version: stored.version });
    }
    if stored.coming().is_some_and(|coming| coming.fire_at <= at) {
        leave_unsettled(&mut tx, &mut stored, at).await?;
    } else {
        let query = sqlx::query!(
            "with backfill as (delete from schedule_backfill where schedule_id = $1)
                delete from schedule where id = $1",
            stored.id.uuid()
        );
        named("schedule.delete", query.execute(&mut *tx)).await?;
    }
    let act = Act::new(AuditAction::ScheduleDelete, name).from(stored.audit_value());
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(DeleteAnswer::Deleted)
}

/// Leaves of a schedule what its due times until `at` need. No name of a customer begins so; and a scheduler of before, which knows
/// nothing of this, makes no task of what is paused.
async fn leave_unsettled(
    tx: &mut PgConnection,
    stored: &mut ScheduleRecord,
    at: Timestamp,
) -> Result<(), StoreError> {
    span::keep(&mut *tx, stored, at, false).await?;
    let query = sqlx::query!(
        "with backfill as (delete from schedule_backfill where schedule_id = $1)
            update schedule set deleted_at = $2, name = '~' || id::text, version = version + 1, updated_at = $2,
                paused_at = coalesce(paused_at, $2), paused_by = coalesce(paused_by, 'system')
            where id = $1",
        stored.id.uuid(),
        at
    );
    named("schedule.delete_later", query.execute(tx)).await.map(|_| ())
}

/// Deletes one that nobody can read, in whichever version it is.
async fn delete_unreadable(
    mut tx: Scoped,
    scope: &TenantScope,
    name: &str,
) -> Result<DeleteAnswer, StoreError> {
    let query = sqlx::query!(
        "with gone as (
                delete from schedule where tenant_id = $1 and name = $2 returning id
            )
            delete from schedule_backfill b using gone g where b.schedule_id = g.id",
        scope.tenant().uuid(),
        name
    );
    named("schedule.delete_unreadable", query.execute(&mut *tx)).await?;
    audit::record(&mut tx, scope, Act::new(AuditAction::ScheduleDelete, name)).await?;
    named("commit", tx.commit()).await?;
    Ok(DeleteAnswer::Deleted)
}
