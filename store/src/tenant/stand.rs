//! Suspends, resumes and deletes a tenant: the only code that writes how one stands.
//!
//! The row is all there is to it. The api asks for it with each key (`api.key_cache_ttl`), the batcher each second, and the
//! scheduler's housekeeping cancels and purges what is deleted.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::tenant::TenantState;
use uuid::Uuid;

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stood {
    /// It stands as asked; also where it did before.
    Yes,
    /// It stands otherwise, and this does not lead from there.
    Not(TenantState),
    /// There is no such tenant.
    NotFound,
}

/// Suspends an active tenant.
///
/// # Errors
/// When the database cannot answer.
pub async fn suspend(db: &AdminDb, id: TenantId) -> Result<Stood, StoreError> {
    let query = sqlx::query!(
        "update tenant set state = 'suspended', suspended_at = now() where id = $1 and state = 'active'",
        id.uuid()
    );
    let moved = named("tenant.suspend", query.execute(db.pool())).await?.rows_affected();
    stood(db, id, moved, TenantState::Suspended).await
}

/// Makes a suspended tenant active again.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(db: &AdminDb, id: TenantId) -> Result<Stood, StoreError> {
    let query = sqlx::query!(
        "update tenant set state = 'active', suspended_at = null where id = $1 and state = 'suspended'",
        id.uuid()
    );
    let moved = named("tenant.resume", query.execute(db.pool())).await?.rows_affected();
    stood(db, id, moved, TenantState::Active).await
}

/// Deletes a tenant. There is no way back: from here on its work is cancelled and its data waits to be purged.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(db: &AdminDb, id: TenantId) -> Result<Stood, StoreError> {
    let query = sqlx::query!(
        "update tenant set state = 'deleted', deleted_at = now(), suspended_at = null
            where id = $1 and state <> 'deleted'",
        id.uuid()
    );
    let moved = named("tenant.delete", query.execute(db.pool())).await?.rows_affected();
    stood(db, id, moved, TenantState::Deleted).await
}

async fn stood(
    db: &AdminDb,
    id: TenantId,
    moved: u64,
    wanted: TenantState,
) -> Result<Stood, StoreError> {
    if moved == 1 {
        return Ok(Stood::Yes);
    }
    let query = sqlx::query_scalar!("select state from tenant where id = $1", id.uuid());
    let Some(state) = named("tenant.state", query.fetch_optional(db.pool())).await? else {
        return Ok(Stood::NotFound);
    };
    let state = state_of(&state, id.uuid())?;
    Ok(if state == wanted { Stood::Yes } else { Stood::Not(state) })
}

/// Reads a state that the table's check admitted.
pub(crate) fn state_of(text: &str, tenant: Uuid) -> Result<TenantState, StoreError> {
    text.parse().map_err(|_| StoreError::Malformed {
        what: "state",
        row: TenantId(tenant).to_string(),
        value: text.to_owned(),
    })
}
