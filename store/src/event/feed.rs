//! A tenant's events one after the other, for those who read all of them.
//!
//! The order is that of the transactions that wrote them, and it ends before the oldest one that is open: nothing appears behind a place
//! that was read. Of one task the events may come in another order than it changed in, where its transactions began in another order
//! than they changed it; `sequence` has the right one.

use crate::connect::ApiDb;
use crate::scoped::{scoped, scoped_read};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use domain::event::{EventPlace, EventRecord, TaskEvent};
use domain::id::{ScheduleId, TaskId, TenantId, WorkflowRunId};
use sqlx::PgConnection;
use std::collections::BTreeMap;

/// Days that the feed goes back.
pub const FEED_DAYS: u32 = 3;
/// Events of a tenant's tasks are written for so many hours after it last asked for them.
pub const FEED_TERM_HOURS: u32 = 25;
/// The consumer that stands for all readers of the feed.
const CONSUMER: &str = "feed";

/// What one read found.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The events behind the place, in order.
    pub events: Vec<EventRecord>,
    /// Where the next read goes on.
    pub next: EventPlace,
}

/// Sees to it that events of the tenant's tasks are written for the next [`FEED_TERM_HOURS`]. Writes once an hour at most.
///
/// # Errors
/// When the database cannot answer.
pub async fn follow_feed(db: &ApiDb, scope: &TenantScope) -> Result<(), StoreError> {
    let mut tx = scoped(db, scope).await?;
    let term = i32::try_from(FEED_TERM_HOURS).unwrap_or(25);
    let query = sqlx::query!(
        "insert into event_consumer (tenant_id, consumer, expires_at)
            select $1, $2, now() + make_interval(hours => $3)
            where not exists (
                select from event_consumer c where c.tenant_id = $1 and c.consumer = $2
                    and c.expires_at > now() + make_interval(hours => $3 - 1))
            on conflict (tenant_id, consumer) do update set expires_at = excluded.expires_at",
        scope.tenant().uuid(),
        CONSUMER,
        term
    );
    named("event.follow_feed", query.execute(&mut *tx)).await?;
    named("commit", tx.commit()).await
}

/// At most `limit` events behind `after`; without it none, only where to go on from. `None`: there is no such place, because the database
/// is another one, or was restored from a backup.
///
/// # Errors
/// When the database cannot answer.
pub async fn feed(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<EventPlace>,
    limit: u32,
) -> Result<Option<Feed>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    let from = after.unwrap_or(EventPlace { txid: i64::MAX, seq: i64::MAX });
    let read = read(&mut tx, scope.tenant(), from, limit).await?;
    if after.is_some_and(|after| after.txid >= read.horizon) {
        return Ok(None);
    }
    Ok(Some(read.feed))
}

/// The oldest transaction that is open, and the events behind a place that older ones wrote.
pub(crate) struct Read {
    pub horizon: i64,
    pub feed: Feed,
    /// As many as were asked for: more may be behind them.
    pub is_full: bool,
}

/// At most `limit` events of `tenant` behind `from`.
pub(crate) async fn read(
    tx: &mut PgConnection,
    tenant: TenantId,
    from: EventPlace,
    limit: u32,
) -> Result<Read, StoreError> {
    let query = sqlx::query!(
        r#"select h.horizon as "horizon!", e.txid as "txid?", e.seq as "seq?", e.at as "at?", e.kind as "kind?", e.task_id as "task_id?",
                e.state::text as "state?", e.attempt as "attempt?", e.exit_code as "exit_code?", e.reason as "reason?",
                e.detail::text as "detail?", s.name as "name?", s.labels::text as "labels?", s.schedule_id as "schedule_id?",
                s.run_id as "run_id?", s.node as "node?", p.name as "schedule?", r.workflow as "workflow?"
            from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon) h
            left join lateral (
                select n.* from task_event n
                where n.tenant_id = $1 and n.txid >= $2 and (n.txid, n.seq) > ($2, $3) and n.txid < h.horizon
                    and n.at > now() - make_interval(days => $4)
                order by n.txid, n.seq limit $5) e on true
            left join lateral (select f.* from task_spec f where f.id = e.task_id limit 1) s on true
            left join lateral (select f.name from schedule f where f.id = s.schedule_id limit 1) p on true
            left join lateral (
                select f.workflow from workflow_run f where f.tenant_id = $1 and f.id = s.run_id limit 1) r on true
            order by e.txid, e.seq"#,
        tenant.uuid(),
        from.txid,
        from.seq,
        i32::try_from(FEED_DAYS).unwrap_or(3),
        i64::from(limit)
    );
    let rows = patient("event.feed", query.fetch_all(tx)).await?;
    let horizon = rows.first().map_or(0, |row| row.horizon);
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let (Some(txid), Some(seq), Some(at), Some(kind)) = (row.txid, row.seq, row.at, row.kind)
        else {
            continue;
        };
        let malformed = |what, value: &str| StoreError::Malformed {
            what,
            row: format!("event {seq}"),
            value: value.chars().take(200).collect(),
        };
        let task = match (row.task_id, row.state) {
            (Some(id), Some(state)) => Some(TaskEvent {
                id: TaskId(id),
                state: state.parse().map_err(|_| malformed("task_event.state", &state))?,
                attempt: row.attempt.unwrap_or(0).unsigned_abs(),
                exit_code: row.exit_code,
                reason: row.reason,
                name: row.name,
                labels: match &row.labels {
                    None => BTreeMap::new(),
                    Some(text) => serde_json::from_str(text)
                        .map_err(|_| malformed("task_spec.labels", text))?,
                },
                schedule: row.schedule_id.map(ScheduleId),
                schedule_name: row.schedule,
                workflow_run: row.run_id.map(WorkflowRunId),
                workflow: row.workflow,
                node: row.node,
            }),
            _ => None,
        };
        let place = EventPlace { txid, seq };
        events.push(EventRecord { place, at, kind, task, detail_json: row.detail });
    }
    // With fewer than were asked for, all that has ended was read.
    let all = EventPlace { txid: horizon - 1, seq: i64::MAX };
    let is_full = events.len() >= limit as usize;
    let next = events.last().filter(|_| is_full).map_or(all, |last| last.place);
    Ok(Read { horizon, feed: Feed { events, next }, is_full })
}
