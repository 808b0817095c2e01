//! Gives rows of the audit their place in their tenant's chain.
//!
//! Called every other second by each scheduler; the lock on the platform's head lets one in at a time, and the others go away.
//! All of it is one transaction: killed at any point, nothing has happened, and the next one does it. A row that is committed
//! late is sealed late, after rows that were begun later: the order of a chain is that of sealing.

use super::find::{AuditRecord, AuditRow};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::audit::{PLATFORM, Seal, seal};
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Where a chain ends: its last position and seal.
type Heads = BTreeMap<Uuid, (u64, Seal)>;

/// Seals up to `limit` rows, of all tenants; says how many. 0 too where another is at it.
///
/// # Errors
/// When the database cannot answer; then nothing was sealed, or all of it.
pub async fn seal_batch(db: &SchedulerDb, limit: i64) -> Result<u64, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let lock = sqlx::query_scalar!(
        r#"select true as "locked!" from audit_head where tenant_id = $1 for update skip locked"#,
        PLATFORM.uuid()
    );
    if named("audit.lock_seal", lock.fetch_optional(&mut *tx)).await?.is_none() {
        return Ok(0);
    }
    let pending = pending(&mut tx, limit).await?;
    if pending.is_empty() {
        return Ok(0);
    }
    let mut heads = heads(&mut tx, &pending).await?;
    let (mut ids, mut tenants) = (Vec::new(), Vec::new());
    let (mut positions, mut seals) = (Vec::new(), Vec::new());
    for AuditRecord { entry, .. } in &pending {
        let tenant = entry.tenant.uuid();
        let head = heads.entry(tenant).or_insert((0, Seal::START));
        let position = head.0 + 1;
        *head = (position, seal(head.1, position, entry));
        ids.push(entry.id.uuid());
        tenants.push(tenant);
        positions.push(position.cast_signed());
        seals.push(head.1.0.to_vec());
    }
    let put = sqlx::query!(
        "insert into audit_seal (tenant_id, position, audit_id, hash)
            select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[])",
        &tenants,
        &positions,
        &ids,
        &seals
    );
    named("audit.put_seals", put.execute(&mut *tx)).await?;
    go_on(&mut tx, &heads).await?;
    let done = sqlx::query!("delete from audit_pending where audit_id = any($1)", &ids);
    named("audit.sealed", done.execute(&mut *tx)).await?;
    named("commit", tx.commit()).await?;
    Ok(ids.len() as u64)
}

async fn pending(tx: &mut PgConnection, limit: i64) -> Result<Vec<AuditRecord>, StoreError> {
    let query = sqlx::query_as!(
        AuditRow,
        "select a.id, a.tenant_id, a.at, a.actor_kind, a.actor_id, a.key_id, a.request_id, a.action, a.target_kind,
                a.target_id, a.before::text, a.after::text, null::bigint as position
            from audit_pending p join audit a on a.id = p.audit_id
            order by p.audit_id limit $1",
        limit
    );
    let rows = named("audit.pending", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().map(Into::into).collect())
}

async fn heads(tx: &mut PgConnection, pending: &[AuditRecord]) -> Result<Heads, StoreError> {
    let tenants: Vec<Uuid> = pending.iter().map(|row| row.entry.tenant.uuid()).collect();
    let query = sqlx::query!(
        "select tenant_id, position, hash from audit_head where tenant_id = any($1)",
        &tenants
    );
    let rows = named("audit.heads", query.fetch_all(tx)).await?;
    rows.into_iter()
        .map(|row| {
            let seal = super::chain::stored(row.tenant_id, &row.hash)?;
            Ok((row.tenant_id, (row.position.unsigned_abs(), seal)))
        })
        .collect()
}

async fn go_on(tx: &mut PgConnection, heads: &Heads) -> Result<(), StoreError> {
    let tenants: Vec<Uuid> = heads.keys().copied().collect();
    let positions: Vec<i64> = heads.values().map(|head| head.0.cast_signed()).collect();
    let seals: Vec<Vec<u8>> = heads.values().map(|head| head.1.0.to_vec()).collect();
    let query = sqlx::query!(
        "insert into audit_head (tenant_id, position, hash) select * from unnest($1::uuid[], $2::bigint[], $3::bytea[])
            on conflict (tenant_id) do update set position = excluded.position, hash = excluded.hash",
        &tenants,
        &positions,
        &seals
    );
    named("audit.put_heads", query.execute(tx)).await.map(|_| ())
}
