//! Begins to wait for a signal or a person.

use super::read::Key;
use crate::StoreError;
use crate::statement::named;
use crate::task::transition::WaitOver;
use crate::workflow::signal::{came, kept, lock_keys};
use domain::id::TenantId;
use domain::time::millis;
use sqlx::PgConnection;
use std::time::Duration;

/// A task that is to wait.
#[derive(Debug)]
pub(super) struct Waiting {
    pub key: Key,
    /// `None`: for a person.
    pub signal: Option<String>,
    pub expires: Option<Duration>,
}

/// Lets `tasks` wait; how many do, and those whose signal has come before.
pub(super) async fn begin(
    tx: &mut PgConnection,
    tasks: &[Waiting],
) -> Result<(u64, Vec<WaitOver>), StoreError> {
    let keys: Vec<(TenantId, &str)> =
        tasks.iter().filter_map(|task| Some((task.key.0, task.signal.as_deref()?))).collect();
    let mut sent = Vec::new();
    if !keys.is_empty() {
        lock_keys(&mut *tx, &keys).await?;
        sent = kept(&mut *tx, &keys).await?;
    }
    let mut sent = sent.into_iter();
    let (mut over, mut waiting) = (Vec::new(), Vec::new());
    for task in tasks {
        let payload = task.signal.as_ref().and_then(|key| Some((key, sent.next().flatten()?)));
        match payload {
            Some((key, payload)) => {
                let (tenant, id) = task.key;
                let reason = came(key);
                over.push(WaitOver { tenant, task: id, result: Some(payload), reason });
            }
            None => waiting.push(task),
        }
    }
    let tenants: Vec<_> = waiting.iter().map(|task| task.key.0.uuid()).collect();
    let ids: Vec<_> = waiting.iter().map(|task| task.key.1.uuid()).collect();
    let signals: Vec<Option<String>> = waiting.iter().map(|task| task.signal.clone()).collect();
    let expires: Vec<Option<i64>> = waiting.iter().map(|task| task.expires.map(millis)).collect();
    let query = sqlx::query!(
        "update task t set gate = 'waiting', signal_key = i.signal_key, wake_at = now() + i.expires_ms * interval '1 millisecond'
            from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) as i(tenant_id, id, signal_key, expires_ms)
            where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id and t.gate = 'closed' and t.needs is null",
        &tenants,
        &ids,
        &signals as &[Option<String>],
        &expires as &[Option<i64>]
    );
    let waits = named("gate.wait", query.execute(tx)).await?.rows_affected();
    Ok((waits, over))
}
