//! Suspends, resumes and deletes a tenant: the only code that writes how one stands.
//!
//! The row is all there is to it. The api asks for it with each key (`api.key_cache_ttl`), the batcher each second, and the
//! scheduler's housekeeping cancels and purges what is deleted.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::tenant::TenantState;
use domain::time::Timestamp;
use serde_json::json;
use sqlx::{PgConnection, Postgres, Transaction};
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

/// Suspends an active tenant, in the request of `by`.
///
/// # Errors
/// When the database cannot answer.
pub async fn suspend(db: &AdminDb, id: TenantId, by: By) -> Result<Stood, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let moved = to_suspended(&mut tx, id).await?;
    stood(tx, id, moved.then_some(TenantState::Active), TenantState::Suspended, by).await
}

/// Makes a suspended tenant active again, in the request of `by`.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(db: &AdminDb, id: TenantId, by: By) -> Result<Stood, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let moved = to_active(&mut tx, id).await?;
    stood(tx, id, moved.then_some(TenantState::Suspended), TenantState::Active, by).await
}

/// Suspends a tenant where it is active. Whether it was.
pub(super) async fn to_suspended(tx: &mut PgConnection, id: TenantId) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        "update tenant set state = 'suspended', suspended_at = now(), state_since = clock_timestamp()
            where id = $1 and state = 'active' returning state_since",
        id.uuid()
    );
    let since = named("tenant.suspend", query.fetch_optional(&mut *tx)).await?.flatten();
    note(tx, id, TenantState::Active, since).await
}

/// Makes a tenant active where it is suspended. Whether it was.
pub(super) async fn to_active(tx: &mut PgConnection, id: TenantId) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        "update tenant set state = 'active', suspended_at = null, state_since = clock_timestamp()
            where id = $1 and state = 'suspended' returning state_since",
        id.uuid()
    );
    let since = named("tenant.resume", query.fetch_optional(&mut *tx)).await?.flatten();
    note(tx, id, TenantState::Suspended, since).await
}

/// Notes how a tenant stood until `since`, for due times of its schedules that came before and are not fired yet: for a month, and a
/// thousand changes at most. Whether there was a change.
async fn note(
    tx: &mut PgConnection,
    id: TenantId,
    before: TenantState,
    since: Option<Timestamp>,
) -> Result<bool, StoreError> {
    let Some(since) = since else { return Ok(false) };
    let query = sqlx::query!(
        "with noted as (
                insert into tenant_past_state (tenant_id, until, state) values ($1, $2, $3)
            )
            delete from tenant_past_state p where p.tenant_id = $1 and (p.until < $2::timestamptz - interval '31 days'
                or p.until < (select n.until from tenant_past_state n where n.tenant_id = $1 order by n.until desc offset 998 limit 1))",
        id.uuid(),
        since,
        before.as_str()
    );
    named("tenant.note_state", query.execute(tx)).await?;
    Ok(true)
}

/// Deletes a tenant, in the request of `by`. There is no way back: from here on its work is cancelled and its data waits to be
/// purged.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(db: &AdminDb, id: TenantId, by: By) -> Result<Stood, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_scalar!(
        "update tenant t set state = 'deleted', deleted_at = now(), suspended_at = null
            from (select b.id, b.state from tenant b where b.id = $1 for no key update of b) was
            where t.id = was.id and t.state <> 'deleted' returning was.state",
        id.uuid()
    );
    let before = named("tenant.delete", query.fetch_optional(&mut *tx)).await?;
    let moved = before.map(|before| state_of(&before, id.uuid())).transpose()?;
    stood(tx, id, moved, TenantState::Deleted, by).await
}

/// Records in the audit log that a tenant `moved` from that state; of one that did not, its state.
async fn stood(
    mut tx: Transaction<'static, Postgres>,
    id: TenantId,
    moved: Option<TenantState>,
    wanted: TenantState,
    by: By,
) -> Result<Stood, StoreError> {
    if let Some(before) = moved {
        let action = match wanted {
            TenantState::Active => AuditAction::TenantResume,
            TenantState::Suspended => AuditAction::TenantSuspend,
            TenantState::Deleted => AuditAction::TenantDelete,
        };
        let details = |state: TenantState| json!({"state": state.as_str()});
        let act = Act::new(action, id).from(details(before)).to(details(wanted));
        audit::record_and_commit(tx, id, by, act).await?;
        return Ok(Stood::Yes);
    }
    let query = sqlx::query_scalar!("select state from tenant where id = $1", id.uuid());
    let Some(state) = named("tenant.state", query.fetch_optional(&mut *tx)).await? else {
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
