//! Says what holds the retries to each target up, for whoever asks why a task waits; and clears away what is over.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::budget::TargetKey;
use domain::time::millis;
use std::time::Duration;

/// What holds the retries to a target up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetWord {
    /// Which target.
    pub key: TargetKey,
    /// How long until the next probe; `None`: the breaker is closed, and they wait for the budget.
    pub next_probe: Option<Duration>,
}

/// Writes `words`; the last to write of a target is believed.
///
/// # Errors
/// When the database cannot answer.
pub async fn tell(db: &RmDb, words: &[TargetWord]) -> Result<(), StoreError> {
    let mut words: Vec<&TargetWord> = words.iter().collect();
    // In one order, so that two who write wait for each other and do not stand in each other's way.
    words.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let tenants: Vec<_> = words.iter().map(|word| word.key.tenant.uuid()).collect();
    let targets: Vec<_> = words.iter().map(|word| word.key.target.to_string()).collect();
    let probes: Vec<Option<i64>> = words.iter().map(|word| word.next_probe.map(millis)).collect();
    let query = sqlx::query!(
        "insert into retry_target as r (tenant_id, target, next_probe_at, told_at)
            select i.tenant_id, i.target, clock_timestamp() + i.probe * interval '1 millisecond', clock_timestamp()
            from unnest($1::uuid[], $2::text[], $3::bigint[]) as i(tenant_id, target, probe)
            on conflict (tenant_id, target) do update set next_probe_at = excluded.next_probe_at, told_at = excluded.told_at",
        &tenants,
        &targets,
        &probes as &[Option<i64>]
    );
    named("retry_target.tell", query.execute(db.pool())).await.map(|_| ())
}
