//! Deletes a definition that no schedule starts runs of. Its runs go on.
//!
//! Whoever stores such a schedule locks the row of the definition, as this does, before it reads the other's.

use super::versions::forget;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use serde_json::json;
use sqlx::PgConnection;

/// What became of a definition that was to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// It is gone.
    Deleted,
    /// It is in this version.
    VersionMismatch {
        /// In which.
        version: i64,
    },
    /// These schedules start runs of it, by name; more may.
    InUse(Vec<String>),
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
    let users = used_by(&mut tx, scope, name).await?;
    if !users.is_empty() {
        return Ok(DeleteAnswer::InUse(users));
    }
    forget(&mut tx, scope, name).await?;
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

/// Some of the schedules that start runs of it.
async fn used_by(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Vec<String>, StoreError> {
    let query = sqlx::query_scalar!(
        "select name from schedule where tenant_id = $1 and workflow = $2 and deleted_at is null order by name limit 6",
        scope.tenant().uuid(),
        name
    );
    named("workflow.used_by", query.fetch_all(tx)).await
}

/// Keeps the definition of this name to the end of the transaction, for a schedule that starts runs of it; false: there is none.
pub(crate) async fn keep(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        "select version from workflow where tenant_id = $1 and name = $2 for share",
        scope.tenant().uuid(),
        name
    );
    Ok(named("workflow.keep", query.fetch_optional(tx)).await?.is_some())
}
