//! Forgets a limit: one task of its key runs at a time again.

use super::limit::audit_value;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::batch::ConcurrencyKey;

/// Forgets the limit of `key`, where one is stored.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    key: &ConcurrencyKey,
) -> Result<(), StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let query = sqlx::query_scalar!(
        "delete from concurrency_limit where tenant_id = $1 and key = $2 returning running",
        scope.tenant().uuid(),
        key.as_str()
    );
    let Some(running) = named("concurrency.delete", query.fetch_optional(&mut *tx)).await? else {
        return Ok(());
    };
    let before = audit_value(running.unsigned_abs());
    let act = Act::new(AuditAction::ConcurrencyDelete, key).from(before);
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await
}
