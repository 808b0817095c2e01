//! Moves webhooks along the event log, and stores a delivery for each event that is asked for.

use super::record::{disable_unreadable, spec_of};
use crate::StoreError;
use crate::connect::NotifierDb;
use crate::event::{FEED_DAYS, read};
use crate::statement::{named, patient};
use domain::event::{EventPlace, EventRecord};
use domain::id::{DeliveryId, TenantId};
use domain::time::Timestamp;
use domain::webhook::{WebhookSpec, delivery_of};
use sqlx::PgConnection;
use uuid::Uuid;

/// Webhooks that one call moves, at most.
const WEBHOOKS: i64 = 8;
/// Events of each of them, at most.
const EVENTS: u32 = 500;

/// An event for which a webhook may want a delivery.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// What happened.
    pub record: &'a EventRecord,
    /// The webhook.
    pub spec: &'a WebhookSpec,
}

/// A delivery to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Type of its event.
    pub event_type: String,
    /// What that is about.
    pub subject: String,
    /// What is sent.
    pub body: String,
}

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FannedOut {
    /// Events that were read.
    pub events: u64,
    /// Deliveries that were stored.
    pub deliveries: u64,
}

struct Hook {
    id: Uuid,
    tenant: TenantId,
    name: String,
    spec: String,
    from: EventPlace,
    created_at: Timestamp,
}

/// Moves some webhooks that have events behind their cursors. `render` says what is sent of an event; `None`: the webhook does not ask for
/// it. Several notifiers may do so at once.
///
/// # Errors
/// When the database cannot answer; then nothing was moved, or all. Repeating it stores nothing twice.
pub async fn fan_out(
    db: &NotifierDb,
    render: impl Fn(Event<'_>) -> Option<NewDelivery>,
) -> Result<FannedOut, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let mut done = FannedOut::default();
    let mut rows = Rows::default();
    for hook in behind(&mut tx).await? {
        let Ok(spec) = spec_of(&hook.name, &hook.spec) else {
            disable_unreadable(&mut tx, hook.id).await?;
            continue;
        };
        let found = read(&mut tx, hook.tenant, hook.from, EVENTS).await?;
        // Its cursor began before all that was under way then.
        let since = found.feed.events.iter().filter(|record| record.at >= hook.created_at);
        for record in since {
            if let Some(new) = render(Event { record, spec: &spec }) {
                rows.push(&hook, record, new);
            }
        }
        done.events += found.feed.events.len() as u64;
        done.deliveries += rows.ids.len() as u64;
        rows.store(&mut tx).await?;
        moved(&mut tx, hook.id, found.feed.next, (found.is_full, rows.ids.is_empty())).await?;
        rows = Rows::default();
    }
    named("commit", tx.commit()).await?;
    Ok(done)
}

/// Locks webhooks that have events behind their cursors, those first that waited longest; none while the installation is held after a
/// restore.
async fn behind(tx: &mut PgConnection) -> Result<Vec<Hook>, StoreError> {
    let query = sqlx::query!(
        r#"select w.id as "id!", w.tenant_id as "tenant_id!", w.name as "name!", w.spec as "spec!", w.txid as "txid!", w.seq as "seq!",
                w.created_at as "created_at!"
            from webhook w
            where w.disabled_at is null and not w.paused and exists (
                select from task_event n
                where n.tenant_id = w.tenant_id and n.txid >= w.txid and (n.txid, n.seq) > (w.txid, w.seq)
                    and n.txid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint and n.at > now() - make_interval(days => $2)) and (select berth_schedules_held()) is null
            order by w.read_at limit $1 for no key update of w skip locked"#,
        WEBHOOKS,
        i32::try_from(FEED_DAYS).unwrap_or(3)
    );
    let rows = patient("webhook.behind", query.fetch_all(tx)).await?;
    let hooks = rows.into_iter().map(|row| Hook {
        id: row.id,
        tenant: TenantId(row.tenant_id),
        name: row.name,
        spec: row.spec,
        from: EventPlace { txid: row.txid, seq: row.seq },
        created_at: row.created_at,
    });
    Ok(hooks.collect())
}

/// Moves a webhook's cursor.
async fn moved(
    tx: &mut PgConnection,
    id: Uuid,
    to: EventPlace,
    (is_behind, is_idle): (bool, bool),
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update webhook set txid = $2, seq = $3, behind = $4, read_at = clock_timestamp(),
                next_due = case when $5 and behind = $4 then next_due else least(next_due, now()) end
            where id = $1",
        id,
        to.txid,
        to.seq,
        is_behind,
        is_idle
    );
    named("webhook.moved", query.execute(tx)).await.map(drop)
}

/// The columns of deliveries to store.
#[derive(Default)]
struct Rows {
    tenant: Uuid,
    webhook: Uuid,
    ids: Vec<Uuid>,
    at: Vec<Timestamp>,
    event_ids: Vec<String>,
    types: Vec<String>,
    subjects: Vec<String>,
    seqs: Vec<i64>,
    bodies: Vec<String>,
}

impl Rows {
    fn push(&mut self, hook: &Hook, record: &EventRecord, new: NewDelivery) {
        (self.tenant, self.webhook) = (hook.tenant.uuid(), hook.id);
        let id: DeliveryId = delivery_of(hook.id, record.place, record.at);
        self.ids.push(id.uuid());
        self.at.push(record.at);
        self.event_ids.push(record.id());
        self.types.push(new.event_type);
        self.subjects.push(new.subject);
        self.seqs.push(record.place.seq);
        self.bodies.push(new.body);
    }

    async fn store(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let query = sqlx::query!(
            "insert into webhook_delivery (tenant_id, webhook_id, id, at, event_id, event_type, subject, seq, body, since, due_at)
                select $1, $2, r.id, r.at, r.event_id, r.event_type, r.subject, r.seq, r.body, r.at, now()
                from unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[])
                    as r(id, at, event_id, event_type, subject, seq, body)
                on conflict do nothing",
            self.tenant,
            self.webhook,
            &self.ids,
            &self.at,
            &self.event_ids,
            &self.types,
            &self.subjects,
            &self.seqs,
            &self.bodies
        );
        named("webhook.store", query.execute(tx)).await.map(drop)
    }
}
