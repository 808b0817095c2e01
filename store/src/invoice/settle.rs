//! Ends invoices: paid, or void.

use super::find::numbered;
use super::record::InvoiceRecord;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::credit::{self, CreditKind};
use crate::statement::named;
use domain::id::TenantId;
use domain::invoice::{InvoiceMove, InvoiceName, InvoiceState};
use domain::price::Micros;
use serde_json::json;
use sqlx::PgConnection;

/// What became of an invoice that was to be paid or void.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// It is; also where it was before.
    Yes(Box<InvoiceRecord>),
    /// It stands so, and the move is not possible.
    Not(InvoiceState),
    /// There is none of this number.
    NotFound,
}

/// A final invoice was paid, says `by`. The same again changes nothing.
///
/// # Errors
/// When the database cannot answer.
pub async fn pay(
    db: &AdminDb,
    tenant: TenantId,
    name: InvoiceName,
    by: By,
) -> Result<Settled, StoreError> {
    settle(db, tenant, name, InvoiceMove::Pay, by).await
}

/// A final invoice is void, says `by`. What it credited is credited to the next one. The same again changes nothing.
///
/// # Errors
/// When the database cannot answer.
pub async fn void(
    db: &AdminDb,
    tenant: TenantId,
    name: InvoiceName,
    by: By,
) -> Result<Settled, StoreError> {
    settle(db, tenant, name, InvoiceMove::Void, by).await
}

async fn settle(
    db: &AdminDb,
    tenant: TenantId,
    name: InvoiceName,
    change: InvoiceMove,
    by: By,
) -> Result<Settled, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_scalar!(
        "select state from invoice where tenant_id = $1 and number = $2 for no key update",
        tenant.uuid(),
        name.to_string()
    );
    named("invoice.lock", query.fetch_optional(&mut *tx)).await?;
    let Some(before) = numbered(&mut tx, tenant, name).await? else {
        return Ok(Settled::NotFound);
    };
    let Some(after) = before.state.after(change) else {
        let wanted =
            if change == InvoiceMove::Pay { InvoiceState::Paid } else { InvoiceState::Void };
        return Ok(if before.state == wanted {
            Settled::Yes(Box::new(before))
        } else {
            Settled::Not(before.state)
        });
    };
    let query = sqlx::query!(
        "update invoice set state = $3, paid_at = case when $3 = 'paid' then now() end, voided_at = case when $3 = 'void' then now() end
            where tenant_id = $1 and number = $2 and state = 'final'",
        tenant.uuid(),
        name.to_string(),
        after.as_str()
    );
    named("invoice.settle", query.execute(&mut *tx)).await?;
    if after == InvoiceState::Void {
        return_credits(&mut tx, &before).await?;
    }
    let record = numbered(&mut tx, tenant, name).await?.ok_or(StoreError::Contended)?;
    let action = if after == InvoiceState::Void {
        AuditAction::InvoiceVoid
    } else {
        AuditAction::InvoicePay
    };
    let act =
        Act::new(action, name).from(json!({"state": before.state})).to(json!({"state": after}));
    audit::record_and_commit(tx, tenant, by, act).await?;
    Ok(Settled::Yes(Box::new(record)))
}

/// What a void invoice applied of credits, less what it carried on, is credited again.
async fn return_credits(tx: &mut PgConnection, record: &InvoiceRecord) -> Result<(), StoreError> {
    let number = record.name.to_string();
    let query = sqlx::query_scalar!(
        r#"select (coalesce(sum(amount) filter (where applied_to = $2), 0)
                - coalesce(sum(amount) filter (where invoice = $2 and kind = 'carried'), 0))::bigint as "applied!"
            from credit where tenant_id = $1"#,
        record.tenant.uuid(),
        number
    );
    let applied = named("invoice.applied", query.fetch_all(&mut *tx)).await?;
    let applied = applied.first().copied().unwrap_or_default();
    if applied == 0 {
        return Ok(());
    }
    let returned = credit::OfInvoice {
        kind: CreditKind::Returned,
        currency: record.currency,
        amount: Micros(applied),
        invoice: record.name,
        reason: format!("credits of invoice {number}, which is void"),
    };
    credit::write_of_invoice(tx, record.tenant, &returned).await
}
