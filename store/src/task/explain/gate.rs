//! What a node of a workflow waits for after its parents.

use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::explain::Reason;
use domain::id::TaskId;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// The items of a node, of which so many have not ended.
pub(super) async fn items(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: TaskId,
    open: u64,
) -> Result<Reason, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select cardinality(tasks) as "items!" from workflow_items where tenant_id = $1 and task_id = $2"#,
        scope.tenant().uuid(),
        id.uuid()
    );
    let items = patient("task.explain_items", query.fetch_optional(tx)).await?;
    Ok(Reason::Items { items: items.unwrap_or_default().unsigned_abs().into(), open })
}

/// A signal or a person, until the wait expires.
pub(super) fn wait(signal: Option<String>, until: Option<Timestamp>) -> Reason {
    match signal {
        Some(key) => Reason::Signal { key, until },
        None => Reason::Approval { until },
    }
}
