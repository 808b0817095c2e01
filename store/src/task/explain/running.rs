//! How much a tenant holds of its limit on running tasks, as the batcher counts it.

use super::most::MOST;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use sqlx::PgConnection;

/// Its tasks that are queued, running or cancelling. Read only where the batcher says that they are as many as may be: it goes
/// through all leases there are.
pub(super) async fn held(tx: &mut PgConnection, scope: &TenantScope) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select count(*) as "held!" from (
                (select 1 from (select name from pool order by name limit 1000) p
                cross join lateral (select from task_turn t where t.pool = p.name and t.state = 'queued' limit $2) q)
                union all
                -- The tenant is a check and no more: by it alone the planner might read all that waits.
                (select 1 from task l where l.session_id is not null and l.wake_at is not null
                    and coalesce(l.tenant_id = $1, false))
                limit $2) h"#,
        scope.tenant().uuid(),
        MOST + 1
    );
    Ok(patient("task.explain_running", query.fetch_one(tx)).await?.unsigned_abs())
}
