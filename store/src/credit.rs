//! Credits and refunds: signed amounts, written once. They never change an invoice that is final.
//!
//! A credit is applied by the next invoice of its currency. A refund was paid back: it names the paid invoice, and no other applies it.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::invoice::{InvoiceName, InvoiceState};
use domain::price::{Currency, Micros};
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;

/// More credits than a list shows.
const MOST: i64 = 1000;

/// What kind of credit it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::Display,
)]
#[strum(serialize_all = "snake_case")]
pub enum CreditKind {
    /// The next invoice applies it.
    Credit,
    /// It was paid back.
    Refund,
    /// What credits of an invoice exceeded its charges by.
    Carried,
    /// What an invoice had credited that is void.
    Returned,
}

/// A credit to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCredit {
    /// Given by whoever makes it, so that it is made once.
    pub key: String,
    /// Whether it was paid back.
    pub kind: CreditKind,
    /// Its currency.
    pub currency: Currency,
    /// Negative: in the tenant's favour.
    pub amount: Micros,
    /// The invoice that it is about.
    pub invoice: Option<InvoiceName>,
    /// Why, as the invoice shows it.
    pub reason: String,
}

/// A credit as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditRecord {
    /// What was asked for.
    pub credit: NewCredit,
    /// The invoice that applied it.
    pub applied_to: Option<InvoiceName>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What became of a credit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credited {
    /// It is made.
    Created(CreditRecord),
    /// It was made before.
    Repeated(CreditRecord),
    /// The key is another credit's.
    KeyReused,
    /// The tenant has no such invoice.
    NoSuchInvoice,
    /// The invoice is in this currency.
    OtherCurrency(Currency),
    /// Only of a paid invoice money is paid back; it stands so.
    NotPaid(InvoiceState),
    /// No more than this is left of the invoice to pay back.
    TooMuch(Micros),
}

/// A credit that follows from an invoice.
pub(crate) struct OfInvoice {
    pub(crate) kind: CreditKind,
    pub(crate) currency: Currency,
    pub(crate) amount: Micros,
    pub(crate) invoice: InvoiceName,
    pub(crate) reason: String,
}

struct CreditRow {
    key: String,
    kind: String,
    currency: String,
    amount: i64,
    invoice: Option<String>,
    reason: String,
    applied_to: Option<String>,
    created_at: Timestamp,
}

fn malformed(what: &'static str, value: &str) -> StoreError {
    StoreError::Malformed { what, row: "a credit".into(), value: value.to_owned() }
}

impl TryFrom<CreditRow> for CreditRecord {
    type Error = StoreError;

    fn try_from(row: CreditRow) -> Result<Self, StoreError> {
        let name = |what, text: Option<String>| {
            text.map(|text| text.parse().map_err(|_| malformed(what, &text))).transpose()
        };
        let credit = NewCredit {
            kind: row.kind.parse().map_err(|_| malformed("kind", &row.kind))?,
            currency: row.currency.parse().map_err(|_| malformed("currency", &row.currency))?,
            amount: Micros(row.amount),
            invoice: name("invoice", row.invoice)?,
            reason: row.reason,
            key: row.key,
        };
        let applied_to = name("applied_to", row.applied_to)?;
        Ok(Self { credit, applied_to, created_at: row.created_at })
    }
}

/// A tenant's credits, newest first.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &AdminDb, tenant: TenantId) -> Result<Vec<CreditRecord>, StoreError> {
    let query = sqlx::query_as!(
        CreditRow,
        "select key, kind, currency, amount, invoice, reason, applied_to, created_at from credit
            where tenant_id = $1 order by created_at desc, key desc limit $2",
        tenant.uuid(),
        MOST
    );
    let rows = named("credit.list", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Makes a credit or a refund of a tenant, in the request of `by`. The same again changes nothing.
///
/// # Errors
/// When the database cannot answer.
pub async fn create(
    db: &AdminDb,
    tenant: TenantId,
    new: &NewCredit,
    by: By,
) -> Result<Credited, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    // Made first, so that of two who make the same one at once one finds the other's.
    let made = match insert(&mut tx, tenant, new).await {
        Err(error) if error.sqlstate().as_deref() == Some("23503") => {
            return Ok(Credited::NoSuchInvoice);
        }
        made => made?,
    };
    let Some(record) = find(&mut tx, tenant, &new.key).await? else {
        return Err(StoreError::Contended);
    };
    if !made {
        let same = record.credit == *new;
        return Ok(if same { Credited::Repeated(record) } else { Credited::KeyReused });
    }
    if let Some(refused) = refusal(&mut tx, tenant, new).await? {
        return Ok(refused);
    }
    let kind: &str = new.kind.into();
    let details = json!({"kind": kind, "currency": new.currency, "amount": new.amount,
        "invoice": new.invoice.map(|name| name.to_string()), "reason": new.reason});
    let act = Act::new(AuditAction::CreditCreate, &new.key).to(details);
    audit::record_and_commit(tx, tenant, by, act).await?;
    Ok(Credited::Created(record))
}

/// What speaks against a credit that is written already, in a transaction that is then undone.
async fn refusal(
    tx: &mut PgConnection,
    tenant: TenantId,
    new: &NewCredit,
) -> Result<Option<Credited>, StoreError> {
    let Some(name) = new.invoice else { return Ok(None) };
    let query = sqlx::query!(
        "select state, currency, total from invoice where tenant_id = $1 and number = $2 for no key update",
        tenant.uuid(),
        name.to_string()
    );
    let Some(invoice) = named("credit.invoice", query.fetch_optional(&mut *tx)).await? else {
        return Ok(Some(Credited::NoSuchInvoice));
    };
    let currency: Currency =
        invoice.currency.parse().map_err(|_| malformed("currency", &invoice.currency))?;
    if currency != new.currency {
        return Ok(Some(Credited::OtherCurrency(currency)));
    }
    if new.kind != CreditKind::Refund {
        return Ok(None);
    }
    let state: InvoiceState =
        invoice.state.parse().map_err(|_| malformed("state", &invoice.state))?;
    if state != InvoiceState::Paid {
        return Ok(Some(Credited::NotPaid(state)));
    }
    let query = sqlx::query_scalar!(
        r#"select coalesce(-sum(amount), 0)::bigint as "refunded!" from credit where tenant_id = $1 and invoice = $2 and kind = 'refund'"#,
        tenant.uuid(),
        name.to_string()
    );
    let refunded = named("credit.refunded", query.fetch_all(tx)).await?;
    let left = invoice.total - refunded.first().copied().unwrap_or_default();
    Ok((left < 0).then(|| Credited::TooMuch(Micros(left) - new.amount)))
}

/// Makes a credit that follows from an invoice: one of each kind for each.
pub(crate) async fn write_of_invoice(
    tx: &mut PgConnection,
    tenant: TenantId,
    of: &OfInvoice,
) -> Result<(), StoreError> {
    let new = NewCredit {
        // No operator gives a key with a colon.
        key: format!("{}:{}", of.kind, of.invoice),
        kind: of.kind,
        currency: of.currency,
        amount: of.amount,
        invoice: Some(of.invoice),
        reason: of.reason.clone(),
    };
    insert(tx, tenant, &new).await.map(|_| ())
}

/// Whether it is new.
async fn insert(
    tx: &mut PgConnection,
    tenant: TenantId,
    new: &NewCredit,
) -> Result<bool, StoreError> {
    let kind: &str = new.kind.into();
    let query = sqlx::query!(
        "insert into credit (tenant_id, key, kind, currency, amount, invoice, reason) values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (tenant_id, key) do nothing",
        tenant.uuid(),
        new.key,
        kind,
        new.currency.to_string(),
        new.amount.0,
        new.invoice.map(|name| name.to_string()),
        new.reason
    );
    Ok(named("credit.insert", query.execute(tx)).await?.rows_affected() == 1)
}

async fn find(
    tx: &mut PgConnection,
    tenant: TenantId,
    key: &str,
) -> Result<Option<CreditRecord>, StoreError> {
    let query = sqlx::query_as!(
        CreditRow,
        "select key, kind, currency, amount, invoice, reason, applied_to, created_at from credit where tenant_id = $1 and key = $2",
        tenant.uuid(),
        key
    );
    named("credit.find", query.fetch_optional(tx)).await?.map(TryInto::try_into).transpose()
}
