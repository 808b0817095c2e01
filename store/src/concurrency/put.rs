//! Stores a limit. What waits already feels it within a second: the batcher reads limits anew that often.

use super::limit::{ConcurrencyLimit, LimitRow, audit_value};
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::batch::ConcurrencyKey;
use sqlx::PgConnection;

/// Limits that a tenant may store.
pub const MOST: u32 = 10_000;
/// The most that a limit may allow.
pub const MOST_RUNNING: u32 = 1_000_000;

/// What became of a limit that was to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// It is stored, or was so before.
    Done(ConcurrencyLimit),
    /// The tenant has [`MOST`] of them.
    TooMany,
}

/// Stores that up to `running` (0 to [`MOST_RUNNING`]) tasks of `key` run at once.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    key: &ConcurrencyKey,
    running: u32,
) -> Result<Put, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    lock(&mut tx, scope).await?;
    let act = Act::new(AuditAction::ConcurrencyPut, key).to(audit_value(running));
    let (row, act) = match find(&mut tx, scope, key).await? {
        Some(stored) if stored.running == running => return Ok(Put::Done(stored)),
        Some(stored) => {
            let row = change(&mut tx, scope, key, running).await?;
            (row, act.from(audit_value(stored.running)))
        }
        None if count(&mut tx, scope).await? >= MOST => return Ok(Put::TooMany),
        None => (insert(&mut tx, scope, key, running).await?, act),
    };
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(Put::Done(row.into()))
}

/// Lets one request at a time store limits of this tenant, to the end of its transaction: there is no row yet to lock.
async fn lock(tx: &mut PgConnection, scope: &TenantScope) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "locked!" from pg_advisory_xact_lock(hashtextextended('concurrency_limit ' || $1::text, 0))"#,
        scope.tenant().to_string()
    );
    named("concurrency.lock", query.fetch_one(tx)).await.map(|_| ())
}

async fn find(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &ConcurrencyKey,
) -> Result<Option<ConcurrencyLimit>, StoreError> {
    let query = sqlx::query_as!(
        LimitRow,
        "select key, running, updated_at from concurrency_limit where tenant_id = $1 and key = $2 for update",
        scope.tenant().uuid(),
        key.as_str()
    );
    Ok(named("concurrency.lock_one", query.fetch_optional(tx)).await?.map(Into::into))
}

async fn count(tx: &mut PgConnection, scope: &TenantScope) -> Result<u32, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select count(*) as "limits!" from (
                -- Those of workflow runs are not its tenant's to count.
                select key from concurrency_limit where tenant_id = $1 and key !~ '^run_[0-9a-f]{32}$' limit $2) l"#,
        scope.tenant().uuid(),
        i64::from(MOST)
    );
    let limits = named("concurrency.count", query.fetch_one(tx)).await?;
    Ok(u32::try_from(limits).unwrap_or(u32::MAX))
}

async fn insert(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &ConcurrencyKey,
    running: u32,
) -> Result<LimitRow, StoreError> {
    let query = sqlx::query_as!(
        LimitRow,
        "insert into concurrency_limit (tenant_id, key, running) values ($1, $2, $3)
            returning key, running, updated_at",
        scope.tenant().uuid(),
        key.as_str(),
        i32::try_from(running).unwrap_or(i32::MAX)
    );
    named("concurrency.insert", query.fetch_one(tx)).await
}

async fn change(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &ConcurrencyKey,
    running: u32,
) -> Result<LimitRow, StoreError> {
    let query = sqlx::query_as!(
        LimitRow,
        "update concurrency_limit set running = $3, updated_at = now() where tenant_id = $1 and key = $2
            returning key, running, updated_at",
        scope.tenant().uuid(),
        key.as_str(),
        i32::try_from(running).unwrap_or(i32::MAX)
    );
    named("concurrency.change", query.fetch_one(tx)).await
}
