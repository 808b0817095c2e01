//! What holds the next attempt of a task up, beyond its own back-off.

use super::live::Live;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::explain::Reason;
use sqlx::PgConnection;

/// What the resource managers say of the target that `task` waits for; `None` where it waits for its own time.
pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: &Live,
) -> Result<Option<Reason>, StoreError> {
    let query = sqlx::query!(
        r#"select h.target, r.next_probe_at as "next_probe_at?"
            from held_retry h
            -- Told each second while tasks wait.
            left join retry_target r on r.tenant_id = $1 and r.target = h.target
                and r.told_at > clock_timestamp() - interval '5 seconds'
            where h.tenant_id = $1 and h.task_id = $2 and h.attempt = $3 and h.due_at > now()"#,
        scope.tenant().uuid(),
        task.id.uuid(),
        i32::try_from(task.attempt).unwrap_or(i32::MAX)
    );
    let row = patient("task.explain_held", query.fetch_optional(tx)).await?;
    Ok(row.map(|row| match row.next_probe_at {
        Some(next_probe_at) => Reason::BreakerOpen { target: row.target, next_probe_at },
        None => Reason::RetryBudget { target: row.target },
    }))
}
