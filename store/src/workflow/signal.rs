//! Signals: what nodes wait for that comes from outside.
//!
//! A signal is kept under its key until it expires, so that it may come before a node waits for it. Whoever sends one and whoever begins to
//! wait for it lock the key first, and then read what the other has done: so neither misses the other.

use crate::audit::{self, Act, AuditAction};
use crate::connect::{ApiDb, SchedulerDb};
use crate::statement::{named, repeated};
use crate::task::transition::{WaitOver, wait_over_in};
use crate::{StoreError, TenantScope};
use domain::audit::ActorId;
use domain::id::{TaskId, TenantId};
use domain::time::{Timestamp, millis};
use serde_json::json;
use sqlx::PgConnection;
use std::time::Duration;

/// A signal to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentSignal {
    /// Its key.
    pub key: String,
    /// JSON, of at most 64 KiB.
    pub payload: String,
    /// For that long nodes find it that begin to wait later.
    pub kept: Duration,
    /// Who sends it.
    pub sent_by: ActorId,
    /// Signals that the tenant may have kept.
    pub most: u64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalAnswer {
    /// It is sent.
    Sent {
        /// Nodes that waited for it, and go on.
        nodes: u64,
        /// Until when it is kept.
        expires_at: Timestamp,
    },
    /// The tenant has reached its limit of kept signals.
    QuotaReached,
}

/// Ends the nodes that wait for a signal, and keeps it for those that come later, in the place of an earlier one of its key. Wake the
/// schedulers and the batcher.
///
/// # Errors
/// When the database cannot answer; then it was not sent, unless [`StoreError::outcome_unknown`] says otherwise.
pub async fn send_signal(
    db: &ApiDb,
    scope: &TenantScope,
    signal: &SentSignal,
) -> Result<SignalAnswer, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        lock_keys(&mut tx, &[(scope.tenant(), signal.key.as_str())]).await?;
        let Some(expires_at) = keep(&mut tx, scope, signal).await? else {
            return Ok(SignalAnswer::QuotaReached);
        };
        let waiting = sqlx::query_scalar!(
            "select t.id from task t where t.tenant_id = $1 and t.signal_key = $2",
            scope.tenant().uuid(),
            signal.key
        );
        let mut waiting = named("signal.waiting", waiting.fetch_all(&mut *tx)).await?;
        // In the lock order. One that ends meanwhile is not counted; none can begin to wait.
        waiting.sort_unstable();
        let over = |id| WaitOver {
            tenant: scope.tenant(),
            task: TaskId(id),
            result: Some(signal.payload.clone()),
            reason: came(&signal.key),
        };
        let over: Vec<_> = waiting.into_iter().map(over).collect();
        let nodes =
            if over.is_empty() { 0 } else { wait_over_in(&mut tx, "waiting", &over).await? };
        let after = json!({"nodes": nodes, "bytes": signal.payload.len()});
        let act = Act::new(AuditAction::SignalSend, &signal.key).to(after);
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        Ok(SignalAnswer::Sent { nodes, expires_at })
    })
    .await
}

/// Why the wait for a signal is over.
pub(super) fn came(key: &str) -> String {
    format!("the signal `{key}` came")
}

/// Lets only the caller's transaction send signals with `keys`, or begin to wait for them. In the order of the keys.
pub(super) async fn lock_keys(
    tx: &mut PgConnection,
    keys: &[(TenantId, &str)],
) -> Result<(), StoreError> {
    let mut names: Vec<String> =
        keys.iter().map(|(tenant, key)| format!("signal {tenant} {key}")).collect();
    names.sort_unstable();
    names.dedup();
    let query = sqlx::query!(
        r#"select pg_advisory_xact_lock(hashtextextended(k.name, 0)) is null as "locked!"
            from unnest($1::text[]) as k(name)"#,
        &names
    );
    named("signal.lock", query.fetch_all(tx)).await.map(|_| ())
}

/// Keeps the signal; until when. `None`: the tenant has reached its limit.
async fn keep(
    tx: &mut PgConnection,
    scope: &TenantScope,
    signal: &SentSignal,
) -> Result<Option<Timestamp>, StoreError> {
    let query = sqlx::query_scalar!(
        "insert into workflow_signal as s (tenant_id, key, payload, sent_by, expires_at)
            select $1, $2, $3, $4, now() + $5 * interval '1 millisecond'
            where (select count(*) from (select from workflow_signal h where h.tenant_id = $1 and h.key <> $2 limit $6) held) < $6
            on conflict (tenant_id, key) do update set payload = excluded.payload, sent_by = excluded.sent_by, sent_at = now(),
                expires_at = excluded.expires_at
            returning expires_at",
        scope.tenant().uuid(),
        signal.key,
        signal.payload,
        signal.sent_by.to_string(),
        millis(signal.kept) as f64,
        i64::try_from(signal.most).unwrap_or(i64::MAX)
    );
    named("signal.keep", query.fetch_optional(tx)).await
}

/// The payloads that are kept under `keys`, in their order. The caller has locked them.
pub(super) async fn kept(
    tx: &mut PgConnection,
    keys: &[(TenantId, &str)],
) -> Result<Vec<Option<String>>, StoreError> {
    let tenants: Vec<_> = keys.iter().map(|(tenant, _)| tenant.uuid()).collect();
    let names: Vec<String> = keys.iter().map(|(_, key)| (*key).to_owned()).collect();
    let query = sqlx::query!(
        r#"select s.payload as "payload?" from unnest($1::uuid[], $2::text[]) with ordinality as k(tenant_id, key, place)
            left join lateral (
                select f.payload from workflow_signal f
                where f.tenant_id = k.tenant_id and f.key = k.key and f.expires_at > now() limit 1) s on true
            order by k.place"#,
        &tenants,
        &names
    );
    let rows = named("signal.kept", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().map(|row| row.payload).collect())
}

/// Deletes up to `limit` signals that expired; how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn forget_expired_signals(db: &SchedulerDb, limit: i64) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from workflow_signal s using (
                select tenant_id, key from workflow_signal where expires_at < now() order by expires_at limit $1 for update skip locked) d
            where s.tenant_id = any (array[d.tenant_id]) and s.key = d.key",
        limit
    );
    Ok(named("signal.forget", query.execute(db.pool())).await?.rows_affected())
}
