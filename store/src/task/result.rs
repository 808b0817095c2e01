//! What a task returned.

use super::scoped_read;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::time::Timestamp;

/// The JSON text that a task returned, which ended at `finished_at`; `None` where it returned nothing.
///
/// # Errors
/// When the database cannot answer.
pub async fn result(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    finished_at: Timestamp,
) -> Result<Option<String>, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        "select value from task_result where tenant_id = $1 and task_id = $2 and finished_at = $3",
        scope.tenant().uuid(),
        task.uuid(),
        finished_at
    );
    patient("task.result", query.fetch_optional(&mut *tx)).await
}
