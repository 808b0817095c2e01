//! Reads attempts and adds them up, as they come.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::price_history::{KnownPrices, reserved_cost, used};
use crate::statement::{named, patient};
use crate::task::spec::labels;
use domain::id::{ScheduleId, TenantId};
use domain::price::{EndedAttempt, Rollup, StoredDay};
use domain::time::Timestamp;
use futures::TryStreamExt;
use sqlx::PgConnection;
use uuid::Uuid;

/// Attempts that are priced at once.
const CHUNK: usize = 5000;

/// Which attempts: by when they ended, and by the transactions that wrote them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) ended_from: Timestamp,
    /// Excluded.
    pub(super) ended_until: Timestamp,
    /// `None`: of any transaction, or of none.
    pub(super) txid_from: Option<i64>,
    /// Excluded.
    pub(super) txid_until: i64,
    /// `None`: of all.
    pub(super) tenant: Option<TenantId>,
}

/// What was read.
pub(super) struct Read {
    pub(super) attempts: usize,
    pub(super) rows: Rollup,
}

struct Row {
    tenant_id: Uuid,
    attempt: i32,
    charged: bool,
    tier: Option<String>,
    cpu_millis: i32,
    memory_mib: i32,
    disk_mib: i32,
    iops: i32,
    ports: i32,
    placed_at: Timestamp,
    ended_at: Timestamp,
    usage_ms: i64,
    tolerance_ms: i64,
    flexible: bool,
    schedule_id: Option<Uuid>,
    workflow: Option<String>,
    labels: Option<String>,
    cost: Option<i64>,
    task_cost: Option<i64>,
    fire_cost: Option<i64>,
    price_book: Option<String>,
    is_fired: bool,
}

/// Adds up the attempts of a span.
pub(super) async fn rollup(
    db: &SchedulerDb,
    tx: &mut PgConnection,
    span: Span,
) -> Result<Read, StoreError> {
    // Attempts of a transaction are found by a bitmap, and all of a day by reading it: with the values known, each is planned for itself.
    let query = sqlx::query_scalar!(
        "select set_config('enable_bitmapscan', 'on', true) || set_config('enable_seqscan', $1, true)
            || set_config('plan_cache_mode', 'force_custom_plan', true) || set_config('statement_timeout', '10min', true)",
        if span.txid_from.is_none() { "on" } else { "off" }
    );
    named("rollup.plan", query.fetch_one(&mut *tx)).await?;
    // The rows come on a connection of their own.
    let mut side = named("begin", db.pool().begin()).await?;
    let mut known = KnownPrices::read(&mut side).await?;
    let mut read = Read { attempts: 0, rows: Rollup::default() };
    let query = sqlx::query_as!(
        Row,
        r#"select a.tenant_id as "tenant_id!", a.attempt as "attempt!", a.charged as "charged!", a.tier::text, a.cpu_millis as "cpu_millis!",
                a.memory_mib as "memory_mib!", a.disk_mib as "disk_mib!", a.iops as "iops!", a.ports as "ports!",
                a.placed_at as "placed_at!", a.ended_at as "ended_at!", a.usage_ms as "usage_ms!",
                coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) as "tolerance_ms!", coalesce(a.flexible, false) as "flexible!",
                s.schedule_id as "schedule_id?", r.workflow as "workflow?", s.labels as "labels?",
                a.cost, a.task_cost, a.fire_cost, a.price_book,
                berth_bears_fire(a.task_id, s.schedule_id, s.rerun_of, s.run_id, r.fire_task) as "is_fired!"
            from attempt a
            left join lateral (select f.delay_tolerance_ms, f.schedule_id, f.run_id, f.rerun_of, f.labels::text as labels from task_spec f
                where f.id = a.task_id and f.tenant_id = a.tenant_id limit 1) s on true
            left join lateral (select w.workflow, w.fire_task from workflow_run w
                where w.tenant_id = a.tenant_id and w.id = s.run_id limit 1) r on s.run_id is not null
            where a.ended_at >= $1 and a.ended_at < $2 and ($3::bigint is null or a.txid >= $3)
                and (a.txid < $4 or ($3::bigint is null and a.txid is null)) and ($5::uuid is null or a.tenant_id = $5)"#,
        span.ended_from,
        span.ended_until,
        span.txid_from,
        span.txid_until,
        span.tenant.map(TenantId::uuid)
    );
    let counted = async {
        let mut chunks = query.fetch(tx).try_chunks(CHUNK);
        while let Some(chunk) = chunks.try_next().await.map_err(|error| error.1)? {
            let tenants = chunk.iter().map(|row| TenantId(row.tenant_id));
            if let Err(error) = known.know(&mut side, tenants).await {
                return Ok(Some(error));
            }
            read.attempts += chunk.len();
            chunk.into_iter().for_each(|row| read.rows.add(&known.history, attempt(row)));
        }
        Ok(None)
    };
    if let Some(error) = patient("rollup.read", counted).await? {
        return Err(error);
    }
    for day in stored(&mut side, span).await? {
        known.know(&mut side, std::iter::once(day.tenant)).await?;
        read.rows.add_stored(&known.history, day);
    }
    Ok(read)
}

/// What was stored on the days that ended in a span.
async fn stored(tx: &mut PgConnection, span: Span) -> Result<Vec<StoredDay>, StoreError> {
    // One that was measured late counts in its own day.
    let is_open = span.ended_until == Timestamp::MAX_UTC;
    let from = if is_open { Timestamp::UNIX_EPOCH } else { span.ended_from };
    let query = sqlx::query!(
        r#"select d.tenant_id, d.bytes, e.at as "at!"
            from stored_day d
            cross join lateral (select (d.day + 1)::timestamp at time zone 'UTC' - interval '1 microsecond' as at) e
            where e.at >= $1 and e.at < $2 and ($3::bigint is null or d.txid >= $3) and d.txid < $4 and ($5::uuid is null or d.tenant_id = $5)"#,
        from,
        span.ended_until,
        span.txid_from,
        span.txid_until,
        span.tenant.map(TenantId::uuid)
    );
    let rows = named("rollup.stored", query.fetch_all(tx)).await?.into_iter();
    let day = rows.map(|row| StoredDay {
        tenant: TenantId(row.tenant_id),
        at: row.at,
        bytes: row.bytes.unsigned_abs(),
    });
    Ok(day.collect())
}

fn attempt(row: Row) -> EndedAttempt {
    let used = used(
        [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports],
        row.tier,
        (row.usage_ms, row.tolerance_ms),
        row.flexible,
    );
    EndedAttempt {
        tenant: TenantId(row.tenant_id),
        number: row.attempt.unsigned_abs(),
        charged: row.charged,
        placed_at: row.placed_at,
        ended_at: row.ended_at,
        used,
        schedule: row.schedule_id.map(|id| ScheduleId(id).to_string()),
        workflow: row.workflow,
        labels: labels(row.labels.as_deref()),
        is_fired: row.is_fired,
        reserved: reserved_cost(row.cost, (row.task_cost, row.fire_cost), row.price_book),
    }
}
