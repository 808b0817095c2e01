//! Claims deliveries that are due.

use super::record::{disable_unreadable, secret_of, spec_of};
use crate::StoreError;
use crate::connect::NotifierDb;
use crate::statement::{named, patient};
use domain::id::{DeliveryId, TenantId};
use domain::time::{Timestamp, millis};
use domain::webhook::{SigningSecret, WebhookSpec};
use sqlx::PgConnection;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Webhooks of which one call claims, at most.
const WEBHOOKS: i64 = 16;

/// A webhook, as a delivery needs it.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// What is stored.
    pub spec: WebhookSpec,
    /// What signs: the present secret, and the one before while it does.
    pub secrets: Vec<SigningSecret>,
    /// Tries in a row without a success.
    pub failures: u64,
}

/// A delivery that the caller sends before its lease is over.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// To whom.
    pub hook: Arc<Hook>,
    /// Its id, which the receiver sees.
    pub id: DeliveryId,
    /// When its event was written; part of its key.
    pub at: Timestamp,
    /// From when on its age counts.
    pub since: Timestamp,
    /// Tries before this one.
    pub tries: u64,
    /// What is sent.
    pub body: String,
}

/// Whose deliveries are not wanted now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Full {
    /// These webhooks'.
    pub webhooks: Vec<Uuid>,
    /// All of these tenants.
    pub tenants: Vec<TenantId>,
}

/// Claims deliveries that are due, for `lease`, but for those of `full`. `room` says how many of a webhook.
///
/// # Errors
/// When the database cannot answer; what was claimed is due again when its lease is over.
pub async fn claim(
    db: &NotifierDb,
    full: &Full,
    lease: Duration,
    room: impl Fn(&Hook) -> u32,
) -> Result<Vec<Claimed>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let mut all = Vec::new();
    for Due { hook, is_ready, now } in due(&mut tx, full).await? {
        let (id, room, before) = (hook.id, room(&hook), all.len());
        if is_ready {
            claim_of(&mut tx, (&Arc::new(hook), now), (room, lease), &mut all).await?;
        }
        let is_cut = all.len() - before >= room as usize;
        set_next_due(&mut tx, (id, now), is_ready && is_cut).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(all)
}

/// A webhook that may have deliveries that are due.
struct Due {
    hook: Hook,
    /// False: it is ordered, and not all events of a page's transactions have deliveries yet.
    is_ready: bool,
    /// What is due until then is claimed; what is due later decides about `next_due`. One moment for both, so that nothing is between.
    now: Timestamp,
}

/// Locks webhooks that may have deliveries that are due; none while the installation is held after a restore.
async fn due(tx: &mut PgConnection, full: &Full) -> Result<Vec<Due>, StoreError> {
    let tenants: Vec<_> = full.tenants.iter().map(|tenant| tenant.uuid()).collect();
    let query = sqlx::query!(
        r#"select w.id, w.tenant_id, w.name, w.spec, w.secret, case when w.old_secret_until > now() then w.old_secret end as old_secret,
                w.failures, (not w.ordered or not w.behind) as "is_ready!", clock_timestamp() as "now!"
            from webhook w
            where w.next_due <= clock_timestamp() and w.disabled_at is null and not w.paused and w.id <> all ($1)
                and w.tenant_id <> all ($2) and (select berth_schedules_held()) is null
            order by w.next_due limit $3 for no key update skip locked"#,
        &full.webhooks,
        &tenants,
        WEBHOOKS
    );
    let rows = patient("webhook.due", query.fetch_all(&mut *tx)).await?;
    let mut hooks = Vec::with_capacity(rows.len());
    for row in rows {
        let secrets = [Some(&row.secret), row.old_secret.as_ref()].into_iter().flatten();
        let secrets: Result<Vec<_>, _> =
            secrets.map(|secret| secret_of(&row.name, secret)).collect();
        let (Ok(spec), Ok(secrets)) = (spec_of(&row.name, &row.spec), secrets) else {
            disable_unreadable(tx, row.id).await?;
            continue;
        };
        let (tenant, failures) = (TenantId(row.tenant_id), row.failures.unsigned_abs());
        let hook = Hook { id: row.id, tenant, spec, secrets, failures };
        hooks.push(Due { hook, is_ready: row.is_ready, now: row.now });
    }
    Ok(hooks)
}

async fn claim_of(
    tx: &mut PgConnection,
    (hook, now): (&Arc<Hook>, Timestamp),
    (room, lease): (u32, Duration),
    all: &mut Vec<Claimed>,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        r#"with picked as (
                select d.at, d.id from webhook_delivery d
                where d.webhook_id = $1 and d.state = 'pending' and d.due_at <= $5
                    and (not $2 or not exists (
                        select from webhook_delivery e
                        where e.webhook_id = $1 and e.state = 'pending' and e.subject = d.subject and e.seq < d.seq))
                order by d.due_at limit $3
            )
            update webhook_delivery d set due_at = clock_timestamp() + $4 * interval '1 millisecond'
            from picked p where d.webhook_id = $1 and d.at = p.at and d.id = p.id
            returning d.id as "id!", d.at as "at!", d.since as "since!", d.tries as "tries!", d.body as "body!""#,
        hook.id,
        hook.spec.ordered,
        i64::from(room),
        millis(lease) as f64,
        now
    );
    let rows = patient("webhook.claim", query.fetch_all(tx)).await?;
    all.extend(rows.into_iter().map(|row| Claimed {
        hook: Arc::clone(hook),
        id: DeliveryId(row.id),
        at: row.at,
        since: row.since,
        tries: row.tries.unsigned_abs(),
        body: row.body,
    }));
    Ok(())
}

/// Stores when the webhook is polled next: at once where more may be due.
async fn set_next_due(
    tx: &mut PgConnection,
    (id, now): (Uuid, Timestamp),
    is_cut: bool,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update webhook w set next_due = case when $2 then w.next_due else (
                select min(d.due_at) from webhook_delivery d
                where d.webhook_id = $1 and d.state = 'pending' and d.due_at > $3) end
            where w.id = $1",
        id,
        is_cut,
        now
    );
    named("webhook.set_next_due", query.execute(tx)).await.map(drop)
}
