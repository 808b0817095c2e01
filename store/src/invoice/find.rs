//! Reads invoices, newest first.

use super::account;
use super::draft::drafts;
use super::record::{InvoiceRecord, InvoiceRow};
use crate::connect::{AdminDb, ApiDb};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::TenantId;
use domain::invoice::InvoiceName;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// More invoices than a tenant has: one a month and currency. A list ends here.
const MOST: i64 = 1000;

/// A tenant's invoices, drafts first, newest first; drafts are sent by `seller`.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    seller: &str,
    now: Timestamp,
) -> Result<Vec<InvoiceRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    all(&mut tx, scope.tenant(), seller, now).await
}

/// The same for the platform's operators.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_operator(
    db: &AdminDb,
    tenant: TenantId,
    seller: &str,
    now: Timestamp,
) -> Result<Vec<InvoiceRecord>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    all(&mut tx, tenant, seller, now).await
}

/// One of a tenant's invoices.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    name: InvoiceName,
    seller: &str,
    now: Timestamp,
) -> Result<Option<InvoiceRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    one(&mut tx, scope.tenant(), name, (seller, now)).await
}

/// The same for the platform's operators.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_for_operator(
    db: &AdminDb,
    tenant: TenantId,
    name: InvoiceName,
    seller: &str,
    now: Timestamp,
) -> Result<Option<InvoiceRecord>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    one(&mut tx, tenant, name, (seller, now)).await
}

async fn all(
    tx: &mut PgConnection,
    tenant: TenantId,
    seller: &str,
    now: Timestamp,
) -> Result<Vec<InvoiceRecord>, StoreError> {
    let Some(account) = account::read(tx, tenant).await? else { return Ok(Vec::new()) };
    let mut found = drafts(tx, &account, seller, now).await?;
    found.reverse();
    let query = sqlx::query_as!(
        InvoiceRow,
        r#"select i.tenant_id, i.number, i.state, i.month, i.starts_at, i.ends_at, i.zone, i.currency, i.total,
                coalesce((select -sum(c.amount) from credit c where c.tenant_id = i.tenant_id and c.invoice = i.number and c.kind = 'refund'),
                    0)::bigint as "refunded!",
                i.document::text as "document!", i.finalized_at, i.paid_at, i.voided_at
            from invoice i where i.tenant_id = $1 order by i.sequence desc limit $2"#,
        tenant.uuid(),
        MOST
    );
    for row in named("invoice.list", query.fetch_all(tx)).await? {
        found.push(row.try_into()?);
    }
    Ok(found)
}

/// An invoice of this name: a draft, computed, or a row.
pub(super) async fn one(
    tx: &mut PgConnection,
    tenant: TenantId,
    name: InvoiceName,
    (seller, now): (&str, Timestamp),
) -> Result<Option<InvoiceRecord>, StoreError> {
    match name {
        InvoiceName::Draft { .. } => {
            let Some(account) = account::read(tx, tenant).await? else { return Ok(None) };
            let drafts = drafts(tx, &account, seller, now).await?;
            Ok(drafts.into_iter().find(|draft| draft.name == name))
        }
        InvoiceName::Numbered { .. } => numbered(tx, tenant, name).await,
    }
}

/// The invoice of this number.
pub(super) async fn numbered(
    tx: &mut PgConnection,
    tenant: TenantId,
    name: InvoiceName,
) -> Result<Option<InvoiceRecord>, StoreError> {
    let query = sqlx::query_as!(
        InvoiceRow,
        r#"select i.tenant_id, i.number, i.state, i.month, i.starts_at, i.ends_at, i.zone, i.currency, i.total,
                coalesce((select -sum(c.amount) from credit c where c.tenant_id = i.tenant_id and c.invoice = i.number and c.kind = 'refund'),
                    0)::bigint as "refunded!",
                i.document::text as "document!", i.finalized_at, i.paid_at, i.voided_at
            from invoice i where i.tenant_id = $1 and i.number = $2"#,
        tenant.uuid(),
        name.to_string()
    );
    named("invoice.find", query.fetch_optional(tx)).await?.map(TryInto::try_into).transpose()
}
