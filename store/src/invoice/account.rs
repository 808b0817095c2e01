//! How a tenant is billed, and which of its months is next.

use super::record::{InvoiceCustomer, malformed};
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use chrono::NaiveDate;
use domain::id::TenantId;
use domain::invoice::{BillingZone, Period};
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::PgConnection;

/// How a tenant is to be billed, all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantBillingPut {
    /// The zone of its months.
    pub zone: BillingZone,
    /// Its name at a billing provider.
    pub customer: Option<String>,
    /// Its address, several lines.
    pub address: Option<String>,
}

/// How a tenant is billed.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantBilling {
    /// What operators say of it.
    pub put: TenantBillingPut,
    /// The month that is billed next.
    pub period: Period,
}

/// A tenant, as it is billed.
pub(super) struct Account {
    pub(super) tenant: TenantId,
    pub(super) name: Option<String>,
    pub(super) billing: TenantBilling,
    /// Whether the month is stored that is billed next.
    is_stored: bool,
}

impl Account {
    pub(super) fn customer(&self) -> InvoiceCustomer {
        let TenantBillingPut { customer, address, .. } = self.billing.put.clone();
        InvoiceCustomer { name: self.name.clone(), address, customer }
    }
}

struct AccountRow {
    name: Option<String>,
    created_at: Timestamp,
    zone: Option<String>,
    customer: Option<String>,
    address: Option<String>,
    month: Option<NaiveDate>,
    starts_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
}

/// How a tenant is billed now; `None`: there is no such tenant. The first month is the one in which it was made.
pub(super) async fn read(
    tx: &mut PgConnection,
    tenant: TenantId,
) -> Result<Option<Account>, StoreError> {
    let query = sqlx::query_as!(
        AccountRow,
        r#"select t.name, t.created_at, b.zone as "zone?", b.customer, b.address, b.month as "month?", b.starts_at as "starts_at?",
                b.ends_at as "ends_at?"
            from tenant t left join tenant_billing b on b.tenant_id = t.id where t.id = $1"#,
        tenant.uuid()
    );
    let Some(row) = named("invoice.account", query.fetch_optional(tx)).await? else {
        return Ok(None);
    };
    let zone = row.zone.map_or_else(
        || Ok(BillingZone::default()),
        |zone| zone.parse().map_err(|_| malformed("zone", &zone)),
    )?;
    let stored = match (row.month, row.starts_at, row.ends_at) {
        (Some(month), Some(starts_at), Some(ends_at)) => Some(Period { month, starts_at, ends_at }),
        _ => None,
    };
    let period = stored.unwrap_or_else(|| zone.month_of(row.created_at));
    let put = TenantBillingPut { zone, customer: row.customer, address: row.address };
    let billing = TenantBilling { put, period };
    Ok(Some(Account { tenant, name: row.name, billing, is_stored: stored.is_some() }))
}

/// The same, to the end of the transaction: nobody else bills this tenant meanwhile.
pub(super) async fn lock(
    tx: &mut PgConnection,
    tenant: TenantId,
) -> Result<Option<Account>, StoreError> {
    let Some(account) = read(tx, tenant).await? else { return Ok(None) };
    if !account.is_stored {
        let Period { month, starts_at, ends_at } = account.billing.period;
        let query = sqlx::query!(
            "insert into tenant_billing (tenant_id, month, starts_at, ends_at) values ($1, $2, $3, $4) on conflict (tenant_id) do nothing",
            tenant.uuid(),
            month,
            starts_at,
            ends_at
        );
        named("invoice.account_make", query.execute(&mut *tx)).await?;
    }
    let query = sqlx::query_scalar!(
        "select tenant_id from tenant_billing where tenant_id = $1 for update",
        tenant.uuid()
    );
    named("invoice.account_lock", query.fetch_optional(&mut *tx)).await?;
    // Only now: it may have waited for the lock.
    read(tx, tenant).await
}

/// Another month is billed next. The account is locked.
pub(super) async fn move_to(
    tx: &mut PgConnection,
    tenant: TenantId,
    period: Period,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update tenant_billing set month = $2, starts_at = $3, ends_at = $4 where tenant_id = $1",
        tenant.uuid(),
        period.month,
        period.starts_at,
        period.ends_at
    );
    named("invoice.account_move", query.execute(tx)).await.map(|_| ())
}

/// How a tenant is billed; `None`: there is no such tenant.
///
/// # Errors
/// When the database cannot answer.
pub async fn get_billing(
    db: &AdminDb,
    tenant: TenantId,
) -> Result<Option<TenantBilling>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    Ok(read(&mut tx, tenant).await?.map(|account| account.billing))
}

/// Stores how a tenant is billed, in the request of `by`. Another zone moves the end of the present month, and not its beginning.
///
/// # Errors
/// When the database cannot answer.
pub async fn put_billing(
    db: &AdminDb,
    tenant: TenantId,
    put: &TenantBillingPut,
    by: By,
) -> Result<Option<TenantBilling>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(account) = lock(&mut tx, tenant).await? else { return Ok(None) };
    let before = account.billing;
    let period = put.zone.moved(&before.period);
    let query = sqlx::query!(
        "update tenant_billing set zone = $2, customer = $3, address = $4 where tenant_id = $1",
        tenant.uuid(),
        put.zone.to_string(),
        put.customer,
        put.address
    );
    named("invoice.account_set", query.execute(&mut *tx)).await?;
    move_to(&mut tx, tenant, period).await?;
    if before.put == *put {
        named("commit", tx.commit()).await?;
    } else {
        let act = Act::new(AuditAction::TenantPutBilling, tenant);
        let act = act.from(audit_value(&before.put)).to(audit_value(put));
        audit::record_and_commit(tx, tenant, by, act).await?;
    }
    Ok(Some(TenantBilling { put: put.clone(), period }))
}

/// What the audit shows: not the address, which a purge could not take out of it.
fn audit_value(put: &TenantBillingPut) -> Value {
    json!({"zone": put.zone.to_string(), "customer": put.customer})
}
