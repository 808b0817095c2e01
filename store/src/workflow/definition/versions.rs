//! Versions of a definition: the one that is stored now, and those that it replaced, of which the latest are kept.

use crate::connect::ApiDb;
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use domain::time::Timestamp;
use sqlx::PgConnection;

/// Replaced versions of a workflow that are kept.
const KEPT: i64 = 100;

/// A version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRecord {
    /// Counts the changes of the workflow, from 1.
    pub version: i64,
    /// As it was sent, JSON; not in a list.
    pub definition: Option<String>,
    /// Its nodes.
    pub nodes: i64,
    /// When it was stored.
    pub stored_at: Timestamp,
    /// The key or the sign-in that did.
    pub stored_by: String,
}

/// Versions of a workflow before `before`, newest first, at most `limit`; none where there is no such workflow.
///
/// # Errors
/// When the database cannot answer.
pub async fn versions(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<VersionRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        VersionRecord,
        r#"select v.version as "version!", null::text as definition, v.nodes as "nodes!", v.stored_at as "stored_at!", v.stored_by as "stored_by!"
            from (
                select w.version, w.nodes, w.updated_at as stored_at, w.updated_by as stored_by
                from workflow w where w.tenant_id = $1 and w.name = $2
                union all
                select o.version, o.nodes, o.stored_at, o.stored_by
                from workflow_version o where o.tenant_id = $1 and o.name = $2
            ) v
            where v.version < $3 order by v.version desc limit $4"#,
        scope.tenant().uuid(),
        name,
        before.unwrap_or(i64::MAX),
        i64::from(limit)
    );
    patient("workflow.versions", query.fetch_all(&mut *tx)).await
}

/// A version with its definition; `None` where there is none, or it is not kept any more.
///
/// # Errors
/// When the database cannot answer.
pub async fn version(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    number: i64,
) -> Result<Option<VersionRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        VersionRecord,
        r#"select v.version as "version!", v.definition as "definition?", v.nodes as "nodes!", v.stored_at as "stored_at!", v.stored_by as "stored_by!"
            from (
                select w.version, w.definition, w.nodes, w.updated_at as stored_at, w.updated_by as stored_by
                from workflow w where w.tenant_id = $1 and w.name = $2
                union all
                select o.version, o.definition, o.nodes, o.stored_at, o.stored_by
                from workflow_version o where o.tenant_id = $1 and o.name = $2
            ) v
            where v.version = $3 limit 1"#,
        scope.tenant().uuid(),
        name,
        number
    );
    patient("workflow.version", query.fetch_optional(&mut *tx)).await
}

/// Keeps what is stored under this name, before another version takes its place. The caller holds the lock of the tenant's definitions.
pub(super) async fn keep_stored(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with kept as (
                insert into workflow_version (tenant_id, name, version, definition, nodes, stored_at, stored_by)
                select w.tenant_id, w.name, w.version, w.definition, w.nodes, w.updated_at, w.updated_by
                from workflow w where w.tenant_id = $1 and w.name = $2
                returning version)
            delete from workflow_version o using kept k where o.tenant_id = $1 and o.name = $2 and o.version <= k.version - $3",
        scope.tenant().uuid(),
        name,
        KEPT
    );
    named("workflow.keep_stored", query.execute(tx)).await.map(|_| ())
}

/// Forgets the versions of a workflow that is deleted: one of the same name begins at 1 again.
pub(super) async fn forget(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "delete from workflow_version where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name
    );
    named("workflow.forget_versions", query.execute(tx)).await.map(|_| ())
}
