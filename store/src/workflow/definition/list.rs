//! A tenant's definitions, by name.

use super::record::WorkflowRecord;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{Bounded, StoreError, TenantScope};
use sqlx::PgConnection;

/// The definition of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<WorkflowRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    get_in(&mut tx, scope, name).await
}

/// The same in a transaction.
pub(super) async fn get_in(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<WorkflowRecord>, StoreError> {
    let query = sqlx::query_as!(
        WorkflowRecord,
        "select name, version, definition, plan, nodes, created_at, updated_at, updated_by from workflow
            where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name
    );
    patient("workflow.get", query.fetch_optional(tx)).await
}

/// Definitions by name, as the database sorts bytes; those after `after`, where one is given. At most `rows`, and no more than `bytes` of
/// definitions but for one. Their plans are not read.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<&str>,
    (rows, bytes): (u32, usize),
) -> Result<Bounded<WorkflowRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        WorkflowRecord,
        r#"select p.name, p.version, p.definition, '' as "plan!", p.nodes, p.created_at, p.updated_at, p.updated_by
            from (select q.*, sum(octet_length(q.definition)) over (order by q.name rows unbounded preceding)
                    - octet_length(q.definition) as before
                from (select * from workflow where tenant_id = $1 and name > $2 order by name limit $3) q) p
            where p.before < $4 order by p.name"#,
        scope.tenant().uuid(),
        // No name is empty.
        after.unwrap_or_default(),
        i64::from(rows),
        i64::try_from(bytes).unwrap_or(i64::MAX)
    );
    let found = patient("workflow.list", query.fetch_all(&mut *tx)).await?;
    let read: usize = found.iter().map(|one| one.definition.len()).sum();
    let more = read >= bytes && found.len() < rows as usize;
    Ok(Bounded { rows: found, more })
}
