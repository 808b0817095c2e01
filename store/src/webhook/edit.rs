//! Deletes a webhook, gives it another secret, enables it again.

use super::find::{locked, row};
use super::put::unfollow;
use super::record::WebhookRecord;
use crate::audit::{Act, AuditAction, record};
use crate::connect::ApiDb;
use crate::scoped::scoped;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::WebhookName;
use domain::time::millis;
use domain::webhook::SigningSecret;
use std::time::Duration;

/// What became of a webhook to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookDeleted {
    /// It is gone; what was not sent is not sent.
    Yes,
    /// It has another version.
    VersionMismatch {
        /// Which.
        version: i64,
    },
    /// There is none of this name.
    NotFound,
}

/// Deletes the webhook of this name. The log of its deliveries cannot be read any more.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    if_version: Option<i64>,
) -> Result<WebhookDeleted, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(found) = locked(&mut tx, scope, name).await? else {
        return Ok(WebhookDeleted::NotFound);
    };
    let (id, version) = (found.id, found.version);
    if if_version.is_some_and(|wanted| wanted != version) {
        return Ok(WebhookDeleted::VersionMismatch { version });
    }
    unfollow(&mut tx, scope, id).await?;
    let query = sqlx::query!(
        "delete from webhook where tenant_id = $1 and id = $2",
        scope.tenant().uuid(),
        id
    );
    named("webhook.delete", query.execute(&mut *tx)).await?;
    let act = Act::new(AuditAction::WebhookDelete, name).from(found.record()?.spec.audited());
    record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(WebhookDeleted::Yes)
}

/// A webhook that signs with another secret from now on; `None`: there is none of this name.
pub type Rotated = Option<WebhookRecord>;

/// Has the webhook sign with `secret` from now on, and for `keep` with the one before as well.
///
/// # Errors
/// When the database cannot answer.
pub async fn rotate(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    secret: &SigningSecret,
    keep: Duration,
) -> Result<Rotated, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(found) = locked(&mut tx, scope, name).await? else { return Ok(None) };
    let query = sqlx::query!(
        "update webhook set old_secret = secret, old_secret_until = now() + $3 * interval '1 millisecond', secret = $2, updated_at = now()
            where id = $1",
        found.id,
        secret.reveal(),
        millis(keep) as f64
    );
    named("webhook.rotate", query.execute(&mut *tx)).await?;
    let keep = serde_json::json!({"keep_old_seconds": keep.as_secs()});
    record(&mut tx, scope, Act::new(AuditAction::WebhookRotate, name).to(keep)).await?;
    let after = row(&mut tx, scope, name).await?.ok_or(StoreError::Contended)?.record()?;
    named("commit", tx.commit()).await?;
    Ok(Some(after))
}

/// A webhook to which is sent again; `None`: there is none of this name.
pub type Resumed = Option<WebhookRecord>;

/// Has a disabled webhook sent to again: first what waits, then what happened meanwhile as far as the event log goes back. One that is
/// not disabled stays as it is.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
) -> Result<Resumed, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(found) = locked(&mut tx, scope, name).await? else { return Ok(None) };
    let id = found.id;
    let before = found.record()?;
    let Some(disabled) = &before.disabled else { return Ok(Some(before)) };
    let query = sqlx::query!(
        "update webhook set disabled_at = null, disabled_reason = null, failures = 0, failing_since = null, next_due = now(),
                updated_at = now()
            where id = $1",
        id
    );
    named("webhook.resume", query.execute(&mut *tx)).await?;
    let was = serde_json::json!({"disabled": disabled.reason});
    record(&mut tx, scope, Act::new(AuditAction::WebhookResume, name).from(was)).await?;
    let after = row(&mut tx, scope, name).await?.ok_or(StoreError::Contended)?.record()?;
    named("commit", tx.commit()).await?;
    Ok(Some(after))
}
