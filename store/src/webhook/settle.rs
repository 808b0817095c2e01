//! Writes what became of tries.

use crate::StoreError;
use crate::connect::NotifierDb;
use crate::statement::named;
use domain::id::DeliveryId;
use domain::time::{Timestamp, millis};
use domain::webhook::{DeliveryTry, disables};
use serde_json::json;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

/// Tries that the log of a delivery keeps.
const KEPT: i32 = 25;

/// A try, and what follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct TryResult {
    /// Of which webhook.
    pub webhook: Uuid,
    /// The delivery's key.
    pub at: Timestamp,
    /// Its id.
    pub id: DeliveryId,
    /// What was tried.
    pub tried: DeliveryTry,
    /// Whether the receiver took it.
    pub is_delivered: bool,
    /// Otherwise when it is tried again; `None`: it is given up.
    pub again_after: Option<Duration>,
    /// The receiver wants no more, ever (410).
    pub is_gone: bool,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Webhooks that were disabled.
    pub disabled: Vec<Uuid>,
}

/// Writes tries, and disables webhooks that had at least so many failures in a row over at least so long.
///
/// # Errors
/// When the database cannot answer; then nothing was written, or all. What is not written is sent again when its lease is over.
pub async fn settle(
    db: &NotifierDb,
    tries: &[TryResult],
    disable_at: (u32, Duration),
) -> Result<Settled, StoreError> {
    let mut by_webhook: BTreeMap<Uuid, Vec<&TryResult>> = BTreeMap::new();
    for tried in tries {
        by_webhook.entry(tried.webhook).or_default().push(tried);
    }
    let mut tx = named("begin", db.pool().begin()).await?;
    let mut settled = Settled::default();
    for (webhook, tries) in &by_webhook {
        if !count(&mut tx, *webhook, tries).await? {
            // It was deleted.
            continue;
        }
        log(&mut tx, *webhook, tries).await?;
        if disable(&mut tx, (*webhook, tries), disable_at).await? {
            settled.disabled.push(*webhook);
        }
    }
    named("commit", tx.commit()).await?;
    Ok(settled)
}

/// Counts failures in a row, and locks the webhook; false: it is gone.
async fn count(
    tx: &mut PgConnection,
    webhook: Uuid,
    tries: &[&TryResult],
) -> Result<bool, StoreError> {
    // In the order in which they began; a success ends a row of failures.
    let mut sorted = tries.to_vec();
    sorted.sort_by_key(|one| one.tried.at);
    let after = sorted.iter().rposition(|one| one.is_delivered).map_or(0, |at| at + 1);
    let failed = sorted.get(after..).unwrap_or_default();
    let soonest = tries.iter().filter(|one| !one.is_delivered).filter_map(|one| one.again_after);
    let query = sqlx::query!(
        "update webhook w set failures = case when $2 then 0 else w.failures end + $3,
                failing_since = case when $3 = 0 and $2 then null else coalesce(case when $2 then null else w.failing_since end, $4) end,
                -- One that is received may let the next of its subject go.
                next_due = least(w.next_due, case when w.ordered then now() end, now() + $5 * interval '1 millisecond')
            where w.id = $1",
        webhook,
        after > 0,
        i64::try_from(failed.len()).unwrap_or(i64::MAX),
        failed.first().map(|one| one.tried.at),
        soonest.min().map(|wait| millis(wait) as f64)
    );
    Ok(named("webhook.count", query.execute(tx)).await?.rows_affected() > 0)
}

async fn log(tx: &mut PgConnection, webhook: Uuid, tries: &[&TryResult]) -> Result<(), StoreError> {
    let ids: Vec<_> = tries.iter().map(|one| one.id.uuid()).collect();
    let at: Vec<_> = tries.iter().map(|one| one.at).collect();
    let logs: Vec<_> = tries.iter().map(|one| json!([one.tried]).to_string()).collect();
    let states: Vec<_> = tries
        .iter()
        .map(|one| match (one.is_delivered, one.again_after) {
            (true, _) => "delivered",
            (false, Some(_)) => "pending",
            (false, None) => "failed",
        })
        .map(str::to_owned)
        .collect();
    let waits: Vec<_> =
        tries.iter().map(|one| millis(one.again_after.unwrap_or_default()) as f64).collect();
    let query = sqlx::query!(
        "update webhook_delivery d set state = i.state, tries = d.tries + 1,
                due_at = now() + i.wait * interval '1 millisecond', ended_at = case when i.state <> 'pending' then now() end,
                log = case when jsonb_array_length(d.log) >= $6 then d.log - 0 else d.log end || i.log::jsonb
            from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $7::float8[]) as i(id, at, state, log, wait)
            where d.webhook_id = $1 and d.at = i.at and d.id = i.id and d.state = 'pending'",
        webhook,
        &ids,
        &at,
        &states,
        &logs,
        KEPT,
        &waits
    );
    named("webhook.log", query.execute(tx)).await.map(drop)
}

/// Disables a webhook that has failed for long enough, or whose receiver is gone, and writes an event of it.
async fn disable(
    tx: &mut PgConnection,
    (webhook, tries): (Uuid, &[&TryResult]),
    at_least: (u32, Duration),
) -> Result<bool, StoreError> {
    if tries.iter().all(|one| one.is_delivered) {
        return Ok(false);
    }
    let query = sqlx::query!(
        r#"select w.failures, extract(epoch from now() - w.failing_since)::float8 as "failing_for" from webhook w
            where w.id = $1 and w.disabled_at is null"#,
        webhook
    );
    let Some(row) = named("webhook.failing", query.fetch_all(&mut *tx)).await?.pop() else {
        return Ok(false);
    };
    let failures = u32::try_from(row.failures).unwrap_or(u32::MAX);
    let failing_for = Duration::from_secs_f64(row.failing_for.unwrap_or(0.0).max(0.0));
    let is_gone = tries.iter().any(|one| one.is_gone);
    if !is_gone && !disables(failures, failing_for, at_least) {
        return Ok(false);
    }
    let reason = if is_gone {
        "the receiver answered 410: it wants no more".to_owned()
    } else {
        format!("{failures} tries in a row had no success")
    };
    let query = sqlx::query!(
        "with disabled as (
                update webhook set disabled_at = now(), disabled_reason = $2 where id = $1 returning tenant_id, name
            )
            insert into task_event (tenant_id, kind, detail)
            select d.tenant_id, 'webhook_disabled', jsonb_build_object('webhook', d.name, 'reason', $2::text) from disabled d",
        webhook,
        reason
    );
    named("webhook.disable", query.execute(tx)).await?;
    Ok(true)
}
