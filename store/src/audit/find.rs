//! Reads the audit, newest first.

use crate::connect::{AdminDb, ApiDb};
use crate::statement::{RowCount, named, patient};
use crate::{MOST_READ, PageOf, StoreError, TenantScope};
use domain::id::{AuditId, TenantId};
use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

/// Which rows: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Done by this key, user or operator.
    pub actor: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// At or after this time.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub to: Option<Timestamp>,
    /// Written before this row: where the page before ended.
    pub before: Option<AuditId>,
}

/// A row and its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The row.
    pub entry: domain::audit::Entry,
    /// Its place, counted from 1; none until it is sealed.
    pub position: Option<u64>,
}

pub(super) struct AuditRow {
    pub id: Uuid,
    pub tenant_id: Uuid,
    pub at: Timestamp,
    pub actor_kind: String,
    pub actor_id: Option<String>,
    pub key_id: Option<String>,
    pub request_id: Option<String>,
    pub action: String,
    pub target_kind: String,
    pub target_id: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub position: Option<i64>,
}

impl RowCount for AuditRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl From<AuditRow> for AuditRecord {
    fn from(row: AuditRow) -> Self {
        Self {
            position: row.position.map(i64::unsigned_abs),
            entry: domain::audit::Entry {
                id: AuditId(row.id),
                tenant: TenantId(row.tenant_id),
                at: row.at,
                actor_kind: row.actor_kind,
                actor_id: row.actor_id,
                key_id: row.key_id,
                request_id: row.request_id,
                action: row.action,
                target_kind: row.target_kind,
                target_id: row.target_id,
                before: row.before,
                after: row.after,
            },
        }
    }
}

/// A tenant's rows, newest first.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    filter: &AuditFilter,
    limit: u32,
) -> Result<PageOf<AuditRecord, AuditId>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    read(&mut tx, scope.tenant(), filter, limit).await
}

/// The same for the platform's operators; [`domain::audit::PLATFORM`] for what is no tenant's.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_for_operator(
    db: &AdminDb,
    tenant: TenantId,
    filter: &AuditFilter,
    limit: u32,
) -> Result<PageOf<AuditRecord, AuditId>, StoreError> {
    let mut connection = named("begin", db.pool().begin()).await?;
    read(&mut connection, tenant, filter, limit).await
}

async fn read(
    connection: &mut PgConnection,
    tenant: TenantId,
    filter: &AuditFilter,
    limit: u32,
) -> Result<PageOf<AuditRecord, AuditId>, StoreError> {
    let bound = bound(connection, tenant, filter).await?;
    let query = sqlx::query_as!(
        AuditRow,
        r#"select a.id, a.tenant_id, a.at, a.actor_kind, a.actor_id, a.key_id, a.request_id, a.action, a.target_kind,
                a.target_id, a.before::text, a.after::text, s.position as "position?"
            from audit a left join audit_seal s on s.audit_id = a.id
            where a.tenant_id = $1 and ($2::uuid is null or a.id < $2) and ($3::text is null or a.actor_id = $3)
                and ($4::text is null or a.action = $4) and ($5::timestamptz is null or a.at >= $5)
                and ($6::timestamptz is null or a.at < $6) and ($8::uuid is null or a.id >= $8)
            order by a.id desc limit $7"#,
        tenant.uuid(),
        filter.before.map(AuditId::uuid),
        filter.actor,
        filter.action,
        filter.from,
        filter.to,
        i64::from(limit),
        bound
    );
    let rows = patient("audit.find", query.fetch_all(connection)).await?;
    let rows = rows.into_iter().map(Into::into).collect();
    Ok(PageOf::until(bound.map(AuditId), rows, limit))
}

/// The last row that a page may read, where a filter may fit few and there are so many.
async fn bound(
    connection: &mut PgConnection,
    tenant: TenantId,
    filter: &AuditFilter,
) -> Result<Option<Uuid>, StoreError> {
    let all = AuditFilter { before: filter.before, ..AuditFilter::default() };
    if *filter == all {
        return Ok(None);
    }
    let query = sqlx::query_scalar!(
        "select id from audit where tenant_id = $1 and ($2::uuid is null or id < $2) order by id desc offset $3 limit 1",
        tenant.uuid(),
        filter.before.map(AuditId::uuid),
        MOST_READ - 1
    );
    Ok(patient("audit.bound", query.fetch_all(connection)).await?.pop())
}
