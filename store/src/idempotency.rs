//! Answers to keyed writes, so that a repeated request gets the same one.
//!
//! The row is written in the transaction of the write itself: either both exist or neither. A concurrent
//! request with the same key waits in the database for the first to commit, and then reads its answer.

use crate::connect::{ApiDb, SchedulerDb, SubmitDb};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use sqlx::PgConnection;
use std::time::Duration;

/// What makes two requests the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The route, with its ids: keys are apart by route.
    pub route: String,
    /// As the client gave it.
    pub key: String,
    /// SHA-256 of the request's body.
    pub body_hash: [u8; 32],
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// New: go on, then [`finish`].
    Fresh,
    /// Answered before.
    Replayed {
        /// HTTP status of the answer.
        status: u16,
        /// The answer's body.
        body: Vec<u8>,
    },
    /// Used before with another body.
    KeyReused,
    /// Begun, and never finished: its process died in between. The write itself may have happened.
    Unfinished,
}

/// What became of a write that is done once, in one transaction with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once<T> {
    /// It was done now.
    Done(T),
    /// It was done before, and answered so.
    Replayed {
        /// HTTP status of the answer.
        status: u16,
        /// The answer's body.
        body: Vec<u8>,
    },
    /// Its key was used before with another body.
    KeyReused,
}

/// Looks a key up, or takes it. For writes that are safe to repeat by themselves (a cancel).
///
/// # Errors
/// When the database cannot answer.
pub async fn begin(
    db: &ApiDb,
    scope: &TenantScope,
    key: &IdempotencyKey,
) -> Result<Begun, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let begun = take(&mut tx, scope, key).await?;
    named("commit", tx.commit()).await?;
    Ok(begun)
}

/// Whether the key was used before, for whatever body.
///
/// # Errors
/// When the database cannot answer.
pub async fn stands(
    db: &SubmitDb,
    scope: &TenantScope,
    key: &IdempotencyKey,
) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select exists (select from idempotency where tenant_id = $1 and route = $2 and key = $3) as "stands!""#,
        scope.tenant().uuid(),
        key.route,
        key.key
    );
    named("idempotency.stands", query.fetch_one(db.pool())).await
}

/// Stores the answer to a key that was begun.
///
/// # Errors
/// When the database cannot answer.
pub async fn finish(
    db: &ApiDb,
    scope: &TenantScope,
    key: &IdempotencyKey,
    status: u16,
    body: &[u8],
) -> Result<(), StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    put_answer(&mut tx, scope, key, status, body).await?;
    named("commit", tx.commit()).await
}

/// Deletes answers older than `retention`, at most `limit`; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn purge(db: &SchedulerDb, retention: Duration, limit: i64) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from idempotency where ctid = any (array(
                select o.ctid from idempotency o
                where o.created_at < now() - $1 * interval '1 second'
                order by o.created_at limit $2))",
        retention.as_secs_f64(),
        limit
    );
    Ok(patient("idempotency.purge", query.execute(db.pool())).await?.rows_affected())
}

/// Takes the key in the transaction of its write; the answer there is already, if any. Without a key there is none.
pub(crate) async fn answered_before<T>(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Once<T>>, StoreError> {
    let Some(key) = key else { return Ok(None) };
    match take(tx, scope, key).await? {
        Begun::Fresh => Ok(None),
        Begun::Replayed { status, body } => Ok(Some(Once::Replayed { status, body })),
        Begun::KeyReused => Ok(Some(Once::KeyReused)),
        // The key and the answer are written together, so that no key of such a write is there without one.
        Begun::Unfinished => Err(StoreError::Contended),
    }
}

pub(crate) async fn take(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &IdempotencyKey,
) -> Result<Begun, StoreError> {
    let insert = sqlx::query!(
        "insert into idempotency (tenant_id, route, key, body_hash) values ($1, $2, $3, $4) on conflict do nothing",
        scope.tenant().uuid(),
        key.route,
        key.key,
        &key.body_hash[..]
    );
    if named("idempotency.take", insert.execute(&mut *tx)).await?.rows_affected() == 1 {
        return Ok(Begun::Fresh);
    }
    let read = sqlx::query!(
        "select body_hash, status, answer from idempotency where tenant_id = $1 and route = $2 and key = $3",
        scope.tenant().uuid(),
        key.route,
        key.key
    );
    let Some(row) = named("idempotency.read", read.fetch_optional(&mut *tx)).await? else {
        // Purged between the two statements: as if it had never been.
        return Err(StoreError::Contended);
    };
    if row.body_hash != key.body_hash {
        return Ok(Begun::KeyReused);
    }
    Ok(match (row.status, row.answer) {
        (Some(status), Some(body)) => Begun::Replayed { status: status.unsigned_abs(), body },
        _ => Begun::Unfinished,
    })
}

pub(crate) async fn put_answer(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &IdempotencyKey,
    status: u16,
    body: &[u8],
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update idempotency set status = $4, answer = $5 where tenant_id = $1 and route = $2 and key = $3",
        scope.tenant().uuid(),
        key.route,
        key.key,
        i16::try_from(status).unwrap_or(200),
        body
    );
    named("idempotency.answer", query.execute(tx)).await.map(|_| ())
}
