//! Sends deliveries again, and tests.

use super::deliveries::{moment, one};
use super::delivery::Delivery;
use super::find::locked;
use crate::audit::{Act, AuditAction, record};
use crate::connect::ApiDb;
use crate::scoped::scoped;
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use domain::id::{DeliveryId, WebhookName};
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

/// Deliveries that one call sends again, at most.
pub const MOST_REPLAYED: u32 = 10_000;

/// Which deliveries are sent again: of those that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayFilter {
    /// Of events from then on.
    pub from: Timestamp,
    /// Of events before that.
    pub until: Timestamp,
    /// Only those that were given up.
    pub only_failed: bool,
}

/// What a replay came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Deliveries that are sent again.
    pub deliveries: u64,
    /// [`MOST_REPLAYED`] were: there may be more.
    pub is_cut: bool,
}

/// Sends deliveries again that have ended, oldest events first, as new: with the same id and body, and all tries before them. `None`: there
/// is no such webhook.
///
/// # Errors
/// When the database cannot answer.
pub async fn replay(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    filter: ReplayFilter,
) -> Result<Option<Replayed>, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(webhook) = locked(&mut tx, scope, name).await? else { return Ok(None) };
    let query = sqlx::query!(
        "with picked as (
                select d.at, d.id from webhook_delivery d
                where d.tenant_id = $1 and d.webhook_id = $2 and d.at >= $3 and d.at < $4
                    and case when $5 then d.state = 'failed' else d.state <> 'pending' end
                order by d.at, d.id limit $6
            )
            update webhook_delivery d set state = 'pending', since = now(), due_at = now(), tries = 0, ended_at = null
            from picked p where d.webhook_id = $2 and d.at = p.at and d.id = p.id",
        scope.tenant().uuid(),
        webhook.id,
        filter.from,
        filter.until,
        filter.only_failed,
        i64::from(MOST_REPLAYED)
    );
    let deliveries = patient("webhook.replay", query.execute(&mut *tx)).await?.rows_affected();
    due(&mut tx, webhook.id).await?;
    let what = json!({"from": filter.from, "until": filter.until, "only_failed": filter.only_failed, "deliveries": deliveries});
    record(&mut tx, scope, Act::new(AuditAction::WebhookReplay, name).to(what)).await?;
    named("commit", tx.commit()).await?;
    Ok(Some(Replayed { deliveries, is_cut: deliveries >= u64::from(MOST_REPLAYED) }))
}

/// Sends one delivery again, at once: one that has ended as new, a pending one without waiting. `None`: there is no such webhook, or no such
/// delivery of it.
///
/// # Errors
/// When the database cannot answer.
pub async fn replay_one(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    id: DeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(webhook) = locked(&mut tx, scope, name).await? else { return Ok(None) };
    let Some((from, until)) = moment(id) else { return Ok(None) };
    let query = sqlx::query!(
        "update webhook_delivery d set state = 'pending', ended_at = null,
                since = case when d.state = 'pending' then d.since else now() end,
                tries = case when d.state = 'pending' then d.tries else 0 end,
                -- One that is being sent is not sent beside that.
                due_at = case when d.state = 'pending' and d.due_at <= now() + interval '1 minute' then d.due_at else now() end
            where d.tenant_id = $1 and d.webhook_id = $2 and d.at >= $3 and d.at < $4 and d.id = $5",
        scope.tenant().uuid(),
        webhook.id,
        from,
        until,
        id.uuid()
    );
    if named("webhook.replay_one", query.execute(&mut *tx)).await?.rows_affected() == 0 {
        return Ok(None);
    }
    due(&mut tx, webhook.id).await?;
    let act = Act::new(AuditAction::WebhookReplay, name).to(json!({"delivery": id.to_string()}));
    record(&mut tx, scope, act).await?;
    let after = one(&mut tx, scope, webhook.id, id).await?;
    named("commit", tx.commit()).await?;
    Ok(after)
}

/// Stores a delivery of no event. `None`: there is no such webhook.
///
/// # Errors
/// When the database cannot answer.
pub async fn test(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    (id, event_type): (DeliveryId, &str),
    body: &str,
) -> Result<Option<Delivery>, StoreError> {
    let mut tx = scoped(db, scope).await?;
    let Some(webhook) = locked(&mut tx, scope, name).await? else { return Ok(None) };
    let Some((at, _)) = moment(id) else { return Ok(None) };
    let query = sqlx::query!(
        "insert into webhook_delivery (tenant_id, webhook_id, id, at, event_type, subject, seq, body, since, due_at)
            values ($1, $2, $3, $4, $5, $6, 0, $7, now(), now())",
        scope.tenant().uuid(),
        webhook.id,
        id.uuid(),
        at,
        event_type,
        // Its own subject: it waits for no other.
        id.to_string(),
        body
    );
    named("webhook.test", query.execute(&mut *tx)).await?;
    due(&mut tx, webhook.id).await?;
    let made = one(&mut tx, scope, webhook.id, id).await?;
    named("commit", tx.commit()).await?;
    Ok(made)
}

async fn due(tx: &mut PgConnection, webhook: Uuid) -> Result<(), StoreError> {
    let query = sqlx::query!("update webhook set next_due = now() where id = $1", webhook);
    named("webhook.due", query.execute(tx)).await.map(drop)
}
