//! Consumers of a tenant's events, each for a term: events of its tasks are written only while it has one.

use crate::connect::ApiDb;
use crate::scoped::scoped_for_all;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::time::millis;
use std::time::Duration;

/// Registers `consumer` for this tenant for the next `term`; repeating it extends the term. Statements that are under way meanwhile may
/// still change tasks without an event.
///
/// # Errors
/// When the database cannot answer.
pub async fn follow(
    db: &ApiDb,
    scope: &TenantScope,
    consumer: &str,
    term: Duration,
) -> Result<(), StoreError> {
    let mut tx = scoped_for_all(db, scope).await?;
    let query = sqlx::query!(
        "insert into event_consumer (tenant_id, consumer, expires_at)
            values ($1, $2, now() + $3 * interval '1 millisecond')
            on conflict (tenant_id, consumer) do update set expires_at = excluded.expires_at",
        scope.tenant().uuid(),
        consumer,
        millis(term) as f64
    );
    named("event.follow", query.execute(&mut *tx)).await?;
    named("commit", tx.commit()).await
}

/// Removes `consumer` from this tenant.
///
/// # Errors
/// When the database cannot answer; then its term ends by itself.
pub async fn unfollow(db: &ApiDb, scope: &TenantScope, consumer: &str) -> Result<(), StoreError> {
    let mut tx = scoped_for_all(db, scope).await?;
    let query = sqlx::query!(
        "delete from event_consumer where tenant_id = $1 and consumer = $2",
        scope.tenant().uuid(),
        consumer
    );
    named("event.unfollow", query.execute(&mut *tx)).await?;
    named("commit", tx.commit()).await
}
