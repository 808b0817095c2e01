//! Reads the log of deliveries.

use super::delivery::{Delivery, DeliveryPlace, DeliveryRow};
use super::find;
use crate::connect::ApiDb;
use crate::scoped::scoped_read;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use chrono::Duration;
use domain::id::{DeliveryId, WebhookName};
use domain::time::Timestamp;
use domain::webhook::DeliveryState;
use sqlx::PgConnection;
use uuid::Uuid;

/// Which deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// In this state.
    pub state: Option<DeliveryState>,
    /// Of events of exactly this type.
    pub event_type: Option<String>,
}

/// The latest deliveries of a webhook, newest event first; those after `after`, where one is given. `None`: there is no such webhook.
///
/// # Errors
/// When the database cannot answer.
pub async fn deliveries(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    filter: &DeliveryFilter,
    (after, limit): (Option<DeliveryPlace>, u32),
) -> Result<Option<Vec<Delivery>>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    let Some(webhook) = find::row(&mut tx, scope, name).await? else { return Ok(None) };
    let query = sqlx::query_as!(
        DeliveryRow,
        r#"select d.id, d.at, d.event_id, d.event_type, d.subject, d.state, d.tries, d.due_at, d.ended_at, d.log::text as "log!",
                null::text as body
            from webhook_delivery d
            where d.tenant_id = $1 and d.webhook_id = $2 and ($3::timestamptz is null or (d.at, d.id) < ($3, $4))
                and ($5::text is null or d.state = $5) and ($6::text is null or d.event_type = $6)
            order by d.at desc, d.id desc limit $7"#,
        scope.tenant().uuid(),
        webhook.id,
        after.map(|after| after.at),
        after.map(|after| after.id.uuid()),
        filter.state.map(DeliveryState::as_str),
        filter.event_type.as_deref(),
        i64::from(limit)
    );
    let rows = patient("webhook.deliveries", query.fetch_all(&mut *tx)).await?;
    rows.into_iter().map(DeliveryRow::delivery).collect::<Result<_, _>>().map(Some)
}

/// A delivery of a webhook, with what is sent. `None`: there is no such webhook, or no such delivery of it.
///
/// # Errors
/// When the database cannot answer.
pub async fn delivery(
    db: &ApiDb,
    scope: &TenantScope,
    name: &WebhookName,
    id: DeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    let Some(webhook) = find::row(&mut tx, scope, name).await? else { return Ok(None) };
    one(&mut tx, scope, webhook.id, id).await
}

pub(super) async fn one(
    tx: &mut PgConnection,
    scope: &TenantScope,
    webhook: Uuid,
    id: DeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let Some((from, until)) = moment(id) else { return Ok(None) };
    let query = sqlx::query_as!(
        DeliveryRow,
        r#"select d.id, d.at, d.event_id, d.event_type, d.subject, d.state, d.tries, d.due_at, d.ended_at, d.log::text as "log!",
                d.body as "body?"
            from webhook_delivery d
            where d.tenant_id = $1 and d.webhook_id = $2 and d.at >= $3 and d.at < $4 and d.id = $5"#,
        scope.tenant().uuid(),
        webhook,
        from,
        until,
        id.uuid()
    );
    patient("webhook.delivery", query.fetch_optional(tx))
        .await?
        .map(DeliveryRow::delivery)
        .transpose()
}

/// The millisecond in which the event of a delivery was written, by its id.
pub(super) fn moment(id: DeliveryId) -> Option<(Timestamp, Timestamp)> {
    let (seconds, nanos) = id.uuid().get_timestamp()?.to_unix();
    let at = Timestamp::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    Some((at, at.checked_add_signed(Duration::milliseconds(1))?))
}
