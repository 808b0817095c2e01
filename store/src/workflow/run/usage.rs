//! What a run has used: the sum of the attempts of its tasks that have ended.

use super::record::RunRecord;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use uuid::Uuid;

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunUsage {
    /// Attempts that ended, charged or not.
    pub attempts: i64,
    /// Those that are billed.
    pub charged_attempts: i64,
    /// Billed time in ms.
    pub run_ms: i64,
    /// Sum of millicores x ms.
    pub cpu_millis_ms: i64,
    /// Sum of MiB x ms.
    pub memory_mib_ms: i64,
}

/// What `run` has used, with its items, without the tasks that it took over. A range of the index of attempts is read for each of its tasks.
///
/// # Errors
/// When the database cannot answer.
pub async fn usage(
    db: &ApiDb,
    scope: &TenantScope,
    run: &RunRecord,
) -> Result<RunUsage, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    // The id of a run is made before those of its own tasks.
    let own: Vec<Uuid> =
        run.tasks.iter().map(|task| task.uuid()).filter(|task| *task > run.id.uuid()).collect();
    let query = sqlx::query!(
        r#"with own as materialized (
                select unnest($2::uuid[]) as id
                union all
                select unnest(i.tasks) from workflow_items i where i.tenant_id = $1 and i.run_id = $3
            )
            select count(*) as "attempts!", count(*) filter (where a.charged) as "charged_attempts!",
                coalesce(sum(a.usage_ms), 0)::bigint as "run_ms!",
                coalesce(sum(a.usage_ms * a.cpu_millis), 0)::bigint as "cpu_millis_ms!",
                coalesce(sum(a.usage_ms * a.memory_mib), 0)::bigint as "memory_mib_ms!"
            from own o
            cross join lateral (
                select e.charged, e.usage_ms, e.cpu_millis, e.memory_mib from attempt e
                where e.tenant_id = $1 and e.task_id = o.id and e.ended_at >= $4 limit 100000) a"#,
        scope.tenant().uuid(),
        &own,
        run.id.uuid(),
        run.created_at
    );
    let row = patient("run.usage", query.fetch_optional(&mut *tx)).await?;
    let usage = row.map(|row| RunUsage {
        attempts: row.attempts,
        charged_attempts: row.charged_attempts,
        run_ms: row.run_ms,
        cpu_millis_ms: row.cpu_millis_ms,
        memory_mib_ms: row.memory_mib_ms,
    });
    Ok(usage.unwrap_or_default())
}
