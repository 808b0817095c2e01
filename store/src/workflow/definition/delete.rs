//! Deletes a definition. Its runs go on.

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use serde_json::json;

/// What became of a definition that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// It is gone.
    Deleted,
    /// It is in this version.
    VersionMismatch {
        /// In which.
        version: i64,
    },
    /// The tenant has none of this name.
    NotFound,
}

/// Deletes the definition of this name; only in version `if_version`, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    if_version: Option<i64>,
) -> Result<DeleteAnswer, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let found = sqlx::query_scalar!(
        "select version from workflow where tenant_id = $1 and name = $2 for update",
        scope.tenant().uuid(),
        name
    );
    let Some(version) = named("workflow.lock", found.fetch_optional(&mut *tx)).await? else {
        return Ok(DeleteAnswer::NotFound);
    };
    if if_version.is_some_and(|wanted| wanted != version) {
        return Ok(DeleteAnswer::VersionMismatch { version });
    }
    let query = sqlx::query!(
        "delete from workflow where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name
    );
    named("workflow.delete", query.execute(&mut *tx)).await?;
    let act = Act::new(AuditAction::WorkflowDelete, name).from(json!({"version": version}));
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(DeleteAnswer::Deleted)
}
