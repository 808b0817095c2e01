//! Reads webhooks.

use super::record::{WebhookRecord, WebhookRow};
use crate::connect::ApiDb;
use crate::scoped::scoped_read;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::WebhookName;
use sqlx::PgConnection;

/// The tenant's webhooks, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &ApiDb, scope: &TenantScope) -> Result<Vec<WebhookRecord>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    rows(&mut tx, scope, None).await?.into_iter().map(WebhookRow::record).collect()
}

/// The webhook of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
) -> Result<Option<WebhookRecord>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    row(&mut tx, scope, name).await?.map(WebhookRow::record).transpose()
}

pub(super) async fn row(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &WebhookName,
) -> Result<Option<WebhookRow>, StoreError> {
    Ok(rows(tx, scope, Some(name)).await?.into_iter().next())
}

async fn rows(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: Option<&WebhookName>,
) -> Result<Vec<WebhookRow>, StoreError> {
    let query = sqlx::query_as!(
        WebhookRow,
        "select w.id, w.name, w.version, w.spec, case when w.old_secret_until > now() then w.old_secret_until end as old_secret_until,
                w.disabled_at, w.disabled_reason, w.failures, w.failing_since, w.created_at, w.updated_at
            from webhook w where w.tenant_id = $1 and ($2::text is null or w.name = $2) order by w.name",
        scope.tenant().uuid(),
        name.map(WebhookName::as_str)
    );
    patient("webhook.list", query.fetch_all(tx)).await
}

/// The same, locked.
pub(super) async fn locked(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &WebhookName,
) -> Result<Option<WebhookRow>, StoreError> {
    let query = sqlx::query_scalar!(
        "select w.id from webhook w where w.tenant_id = $1 and w.name = $2 for update",
        scope.tenant().uuid(),
        name.as_str()
    );
    if patient("webhook.lock", query.fetch_all(&mut *tx)).await?.is_empty() {
        return Ok(None);
    }
    row(tx, scope, name).await
}
