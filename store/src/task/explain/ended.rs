//! A task that has ended.

use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::explain::{Facts, Reason};
use domain::id::TaskId;
use sqlx::PgConnection;

pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: TaskId,
) -> Result<Option<Facts>, StoreError> {
    let query = sqlx::query!(
        r#"select now() as "at!", h.state::text as "state!", h.finished_at, h.exit_code, h.reason
            from task_history h where h.tenant_id = $1 and h.id = $2 limit 1"#,
        scope.tenant().uuid(),
        id.uuid()
    );
    let Some(row) = patient("task.explain_ended", query.fetch_optional(tx)).await? else {
        return Ok(None);
    };
    let state = row.state.parse().map_err(|_| StoreError::Malformed {
        what: "state",
        row: id.to_string(),
        value: row.state,
    })?;
    let ended =
        Reason::Ended { at: row.finished_at, exit_code: row.exit_code, because: row.reason };
    Ok(Some(Facts {
        id,
        state,
        at: row.at,
        expires_at: None,
        own: Some(ended),
        held: None,
        waits: None,
    }))
}
