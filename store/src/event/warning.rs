//! What tenants are warned of: events without a task, which every tenant reads in its limits.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::time::Timestamp;

/// One warning.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// When.
    pub at: Timestamp,
    /// What, such as `quota_nearly_used`.
    pub kind: String,
    /// Its particulars, a JSON object.
    pub detail_json: String,
}

/// The tenant's latest warnings, newest first, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn warnings(
    db: &ApiDb,
    scope: &TenantScope,
    limit: u32,
) -> Result<Vec<Warning>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select e.at, e.kind, e.detail::text as "detail!" from task_event e
            where e.tenant_id = $1 and e.task_id is null order by e.at desc, e.seq desc limit $2"#,
        scope.tenant().uuid(),
        i64::from(limit)
    );
    let rows = patient("event.warnings", query.fetch_all(&mut *tx)).await?;
    Ok(rows
        .into_iter()
        .map(|row| Warning { at: row.at, kind: row.kind, detail_json: row.detail })
        .collect())
}
