//! Why schedules are held.

use crate::connect::{AdminDb, ApiDb, SchedulerDb};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use sqlx::{Executor, Postgres};

/// Why no schedule fires; `None`: they fire.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(db: &SchedulerDb) -> Result<Option<String>, StoreError> {
    ask(db.pool()).await
}

/// The same for an operator.
///
/// # Errors
/// When the database cannot answer.
pub async fn held_for_operator(db: &AdminDb) -> Result<Option<String>, StoreError> {
    ask(db.pool()).await
}

/// The same for a tenant whose schedules they are.
///
/// # Errors
/// When the database cannot answer.
pub async fn held_for_tenant(
    db: &ApiDb,
    scope: &TenantScope,
) -> Result<Option<String>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    ask(&mut *tx).await
}

async fn ask(
    connection: impl Executor<'_, Database = Postgres>,
) -> Result<Option<String>, StoreError> {
    let query = sqlx::query_scalar!("select berth_schedules_held()");
    Ok(named("installation.held", query.fetch_optional(connection)).await?.flatten())
}
