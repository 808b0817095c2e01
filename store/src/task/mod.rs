//! Tasks: submitted, read, chosen, and moved.

mod candidates;
mod explain;
mod find;
mod get;
mod held;
mod malformed;
mod queued;
mod record;
pub mod submit;
pub mod transition;
mod wake;

pub use candidates::{CandidateRow, Look, Seen, StrandRows, candidates};
pub use explain::explain;
pub use find::{LabelFilter, TaskFilter, find};
pub use get::get;
pub use held::held;
pub use malformed::malformed_of_pages;
pub use queued::queued;
pub use record::TaskRecord;
pub use wake::{DueTask, Woken, due_for_a_look, due_within, stale_hints};

use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::time::millis;
use sqlx::{Postgres, Transaction};

/// Begins a reading transaction in which only `scope`'s rows exist, and no statement runs longer than the settings allow.
pub(crate) async fn scoped_read(
    db: &ApiDb,
    scope: &TenantScope,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let mut tx = db.begin().await?;
    let query = sqlx::query_scalar!(
        "select set_config('berth.tenant_id', $1, true) || set_config('statement_timeout', $2, true)",
        scope.tenant().uuid().to_string(),
        millis(db.read_timeout()).to_string()
    );
    named("scope", query.fetch_one(&mut *tx)).await?;
    Ok(tx)
}

/// Begins a writing transaction in which only `scope`'s rows exist. It has no time limit: one that strikes in the commit
/// would leave the outcome open.
pub(crate) async fn scoped(
    db: &ApiDb,
    scope: &TenantScope,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let mut tx = db.begin().await?;
    let tenant = scope.tenant().uuid().to_string();
    let query = sqlx::query_scalar!("select set_config('berth.tenant_id', $1, true)", tenant);
    named("scope", query.fetch_one(&mut *tx)).await?;
    Ok(tx)
}
