//! Reads a chain, for whoever verifies it.

use super::find::{AuditRecord, AuditRow};
use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::{named, patient};
use domain::audit::{Head, Link, Seal};
use domain::id::{AuditId, TenantId};
use std::collections::HashMap;
use uuid::Uuid;

/// Whose chains there are, in the order of their ids, after `after`; the platform's own is the first.
///
/// # Errors
/// When the database cannot answer.
pub async fn chains(
    db: &AdminDb,
    after: Option<TenantId>,
    limit: i64,
) -> Result<Vec<TenantId>, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select tenant_id as "tenant_id!" from audit_head
                where tenant_id >= coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid) and tenant_id is distinct from $1
            union select tenant_id from audit_seal
                where tenant_id >= coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid) and tenant_id is distinct from $1
                    and position = 1
            order by 1 limit $2"#,
        after.map(TenantId::uuid),
        limit
    );
    let tenants = patient("audit.chains", query.fetch_all(db.pool())).await?;
    Ok(tenants.into_iter().map(TenantId).collect())
}

/// Where the chain of `tenant` ends. Read it first: links after it were added meanwhile.
///
/// # Errors
/// When the database cannot answer.
pub async fn head(db: &AdminDb, tenant: TenantId) -> Result<Head, StoreError> {
    let query =
        sqlx::query!("select position, hash from audit_head where tenant_id = $1", tenant.uuid());
    match named("audit.head", query.fetch_optional(db.pool())).await? {
        None => Ok(Head { position: 0, seal: Seal::START }),
        Some(row) => Ok(Head {
            position: row.position.unsigned_abs(),
            seal: stored(tenant.uuid(), &row.hash)?,
        }),
    }
}

/// Up to `limit` links after `position`, in their order.
///
/// # Errors
/// When the database cannot answer.
pub async fn links(
    db: &AdminDb,
    tenant: TenantId,
    position: u64,
    limit: i64,
) -> Result<Vec<Link>, StoreError> {
    let query = sqlx::query!(
        "select position, audit_id, hash from audit_seal where tenant_id = $1 and position > $2 order by position limit $3",
        tenant.uuid(),
        position.cast_signed(),
        limit
    );
    let seals = patient("audit.seals", query.fetch_all(db.pool())).await?;
    let ids: Vec<Uuid> = seals.iter().map(|row| row.audit_id).collect();
    let query = sqlx::query_as!(
        AuditRow,
        "select a.id, a.tenant_id, a.at, a.actor_kind, a.actor_id, a.key_id, a.request_id, a.action, a.target_kind,
                a.target_id, a.before::text, a.after::text, null::bigint as position
            from audit a where a.id = any($1)",
        &ids
    );
    let rows = patient("audit.rows", query.fetch_all(db.pool())).await?;
    let mut rows: HashMap<Uuid, AuditRow> = rows.into_iter().map(|row| (row.id, row)).collect();
    seals
        .into_iter()
        .map(|link| {
            Ok(Link {
                position: link.position.unsigned_abs(),
                seal: stored(link.audit_id, &link.hash)?,
                id: AuditId(link.audit_id),
                entry: rows.remove(&link.audit_id).map(|row| AuditRecord::from(row).entry),
            })
        })
        .collect()
}

pub(super) fn stored(row: Uuid, hash: &[u8]) -> Result<Seal, StoreError> {
    let malformed = |_| StoreError::Malformed {
        what: "hash",
        row: row.to_string(),
        value: format!("{} bytes", hash.len()),
    };
    hash.try_into().map(Seal).map_err(malformed)
}
