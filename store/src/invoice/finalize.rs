//! Makes a month's invoices final, once: when it is over, and all of it is counted.

use super::account::{self, Account};
use super::draft::{Draft, of_month, waiting};
use super::find::numbered;
use super::record::InvoiceRecord;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::{AdminDb, SchedulerDb};
use crate::credit::{self, CreditKind};
use crate::statement::{named, patient};
use chrono::TimeDelta;
use domain::id::TenantId;
use domain::invoice::InvoiceName;
use domain::price::Micros;
use domain::time::{Timestamp, format_time};
use serde_json::json;
use sqlx::PgConnection;

/// So long after its end a month is made final at the earliest: what ended in it and committed late is counted by then.
const GRACE: TimeDelta = TimeDelta::hours(1);

/// What became of a tenant's next month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It is billed: with so many invoices.
    Yes(usize),
    /// It is not over, or not all of it is counted.
    NotYet,
    /// There is no such tenant.
    NotFound,
}

/// What became of a draft that was to be final.
#[derive(Debug, Clone, PartialEq)]
pub enum Finalized {
    /// It is, with those of the other currencies of its month.
    Yes(Box<InvoiceRecord>),
    /// From then on it can be.
    NotBefore(Timestamp),
    /// Not all of its month is counted.
    NotCounted,
    /// There is no such draft, or an earlier month comes first.
    NotFound,
}

/// Until when all is counted, less what may come late; `None`: what was there at first is being counted.
async fn counted(tx: &mut PgConnection) -> Result<Option<Timestamp>, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select c.at as "at!" from event_cursor c where c.consumer = 'usage' and c.seq = -1"#
    );
    let counted = named("invoice.counted", query.fetch_optional(tx)).await?;
    Ok(counted.map(|at| at - GRACE))
}

/// Tenants whose next month can be made final, or of whom no month is known, after `after` in the order of their ids.
///
/// # Errors
/// When the database cannot answer.
pub async fn ending(
    db: &SchedulerDb,
    after: Option<TenantId>,
    limit: i64,
) -> Result<Vec<TenantId>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(counted) = counted(&mut tx).await? else { return Ok(Vec::new()) };
    let query = sqlx::query_scalar!(
        r#"select t.id as "id!" from tenant t left join tenant_billing b on b.tenant_id = t.id
            where ($2::uuid is null or t.id > $2)
                and ((b.tenant_id is null and t.state <> 'deleted')
                    or (b.ends_at <= $1 and (t.deleted_at is null or t.deleted_at >= b.starts_at)))
            order by t.id limit $3"#,
        counted,
        after.map(TenantId::uuid),
        limit
    );
    let tenants = patient("invoice.ending", query.fetch_all(&mut *tx)).await?;
    Ok(tenants.into_iter().map(TenantId).collect())
}

/// Makes the invoices of a tenant's next month final, where it is over and counted, and moves on to the month after it.
///
/// # Errors
/// When the database cannot answer. Repeating it bills nothing twice.
pub async fn close_next(
    db: &SchedulerDb,
    tenant: TenantId,
    seller: &str,
) -> Result<Closed, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(account) = account::lock(&mut tx, tenant).await? else { return Ok(Closed::NotFound) };
    let counted = counted(&mut tx).await?;
    let closed = if counted.is_some_and(|counted| account.billing.period.ends_at <= counted) {
        Closed::Yes(close(&mut tx, &account, seller, By::SYSTEM).await?.len())
    } else {
        Closed::NotYet
    };
    named("commit", tx.commit()).await?;
    Ok(closed)
}

/// Makes a draft final in the request of `by`, and with it those of the other currencies of its month.
///
/// # Errors
/// When the database cannot answer.
pub async fn finalize(
    db: &AdminDb,
    tenant: TenantId,
    name: InvoiceName,
    seller: &str,
    by: By,
) -> Result<Finalized, StoreError> {
    let InvoiceName::Draft { month, currency } = name else { return Ok(Finalized::NotFound) };
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(account) = account::lock(&mut tx, tenant).await? else {
        return Ok(Finalized::NotFound);
    };
    let period = account.billing.period;
    if period.month != month {
        return Ok(Finalized::NotFound);
    }
    let over = period.ends_at + GRACE;
    let query = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#);
    let now = named("invoice.now", query.fetch_all(&mut *tx)).await?;
    if now.first().is_none_or(|now| *now < over) {
        return Ok(Finalized::NotBefore(over));
    }
    if counted(&mut tx).await?.is_none_or(|counted| counted < period.ends_at) {
        return Ok(Finalized::NotCounted);
    }
    let names = close(&mut tx, &account, seller, by).await?;
    let of_currency = async |tx: &mut PgConnection| {
        for name in names {
            let found = numbered(tx, tenant, name).await?;
            if let Some(record) = found.filter(|record| record.currency == currency) {
                return Ok(Some(record));
            }
        }
        Ok::<_, StoreError>(None)
    };
    let Some(record) = of_currency(&mut tx).await? else { return Ok(Finalized::NotFound) };
    named("commit", tx.commit()).await?;
    Ok(Finalized::Yes(Box::new(record)))
}

/// Writes the invoices of the month of a locked account, applies its credits, and moves it on.
async fn close(
    tx: &mut PgConnection,
    account: &Account,
    seller: &str,
    by: By,
) -> Result<Vec<InvoiceName>, StoreError> {
    let period = account.billing.period;
    let mut credits = waiting(tx, account.tenant).await?;
    let drafts = of_month(tx, account, period, &mut credits).await?;
    let mut names = Vec::new();
    for draft in drafts {
        names.push(write(tx, draft, seller, by).await?);
    }
    account::move_to(tx, account.tenant, account.billing.put.zone.next(&period)).await?;
    Ok(names)
}

async fn write(
    tx: &mut PgConnection,
    draft: Draft,
    seller: &str,
    by: By,
) -> Result<InvoiceName, StoreError> {
    let Draft { mut record, carried } = draft;
    let (tenant, month) = (record.tenant, record.period.month);
    seller.clone_into(&mut record.document.seller);
    let query = sqlx::query_scalar!(
        r#"select coalesce(max(sequence), 0) + 1 as "next!" from invoice where tenant_id = $1"#,
        tenant.uuid()
    );
    let next = named("invoice.next", query.fetch_all(&mut *tx)).await?;
    let sequence = next.first().copied().unwrap_or(1);
    let name = InvoiceName::Numbered { month, sequence: sequence.unsigned_abs() };
    let number = name.to_string();
    let query = sqlx::query!(
        "insert into invoice (tenant_id, number, sequence, month, currency, zone, starts_at, ends_at, total, document)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb)",
        tenant.uuid(),
        number,
        sequence,
        month,
        record.currency.to_string(),
        record.zone.to_string(),
        record.period.starts_at,
        record.period.ends_at,
        record.total.0,
        json!(record.document).to_string()
    );
    named("invoice.write", query.execute(&mut *tx)).await?;
    let keys: Vec<_> =
        record.document.lines.iter().filter_map(|line| line.credit.clone()).collect();
    let query = sqlx::query!(
        "update credit set applied_to = $2 where tenant_id = $1 and key = any($3)",
        tenant.uuid(),
        number,
        &keys
    );
    named("invoice.apply_credits", query.execute(&mut *tx)).await?;
    if carried > Micros(0) {
        let left = credit::OfInvoice {
            kind: CreditKind::Carried,
            currency: record.currency,
            amount: -carried,
            invoice: name,
            reason: format!("left of credits of invoice {number}"),
        };
        credit::write_of_invoice(tx, tenant, &left).await?;
    }
    let details = json!({"currency": record.currency, "total": record.total,
        "starts_at": format_time(record.period.starts_at), "ends_at": format_time(record.period.ends_at)});
    let act = Act::new(AuditAction::InvoiceFinalize, name).to(details);
    audit::write(tx, tenant, by, act).await?;
    Ok(name)
}
