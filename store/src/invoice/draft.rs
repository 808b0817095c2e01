//! What a month comes to, from the roll-up.

use super::account::Account;
use super::record::{InvoiceDocument, InvoiceRecord, malformed};
use crate::StoreError;
use crate::price_book::{billing_of, book_of};
use crate::statement::{named, patient};
use domain::id::TenantId;
use domain::invoice::{
    AppliedCredit, InvoiceName, InvoiceState, InvoiceTerms, MonthUse, Period, TierUse, bill,
};
use domain::price::{Billing, Currency, Micros, PriceBook};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::BTreeMap;

/// Credits that no invoice has applied, by the code of their currency.
pub(super) type WaitingCredits = BTreeMap<String, Vec<AppliedCredit>>;

/// A draft, and what of its credits the next invoice applies.
pub(super) struct Draft {
    pub(super) record: InvoiceRecord,
    pub(super) carried: Micros,
}

/// Months of drafts that are shown: the one that is billed next, and those after it that have begun.
const MOST_MONTHS: usize = 3;

/// The drafts of a tenant at an instant, by month and currency.
pub(super) async fn drafts(
    tx: &mut PgConnection,
    account: &Account,
    seller: &str,
    now: Timestamp,
) -> Result<Vec<InvoiceRecord>, StoreError> {
    let mut credits = waiting(tx, account.tenant).await?;
    let (mut drafts, mut period) = (Vec::new(), account.billing.period);
    for _ in 0..MOST_MONTHS {
        if period.starts_at > now {
            break;
        }
        let month = of_month(tx, account, period, &mut credits).await?;
        drafts.extend(month.into_iter().map(|draft| with_seller(draft.record, seller)));
        period = account.billing.put.zone.next(&period);
    }
    Ok(drafts)
}

fn with_seller(mut record: InvoiceRecord, seller: &str) -> InvoiceRecord {
    seller.clone_into(&mut record.document.seller);
    record
}

/// Credits of a tenant that no invoice has applied, oldest first.
pub(super) async fn waiting(
    tx: &mut PgConnection,
    tenant: TenantId,
) -> Result<WaitingCredits, StoreError> {
    let query = sqlx::query!(
        "select key, currency, amount, reason from credit
            where tenant_id = $1 and applied_to is null and kind <> 'refund' order by created_at, key",
        tenant.uuid()
    );
    let mut waiting = WaitingCredits::new();
    for row in named("invoice.credits", query.fetch_all(tx)).await? {
        let credit = AppliedCredit { key: row.key, reason: row.reason, amount: Micros(row.amount) };
        waiting.entry(row.currency).or_default().push(credit);
    }
    Ok(waiting)
}

/// The drafts of one month, each with the credits of its currency, which are taken out of `credits`.
pub(super) async fn of_month(
    tx: &mut PgConnection,
    account: &Account,
    period: Period,
    credits: &mut WaitingCredits,
) -> Result<Vec<Draft>, StoreError> {
    let mut used = used(tx, account.tenant, &period).await?;
    let terms = terms(tx, account.tenant, &period).await?;
    if let Some((_, book)) = &terms {
        used.entry(book.currency.to_string()).or_default();
    }
    let mut drafts = Vec::new();
    for (code, used) in used {
        let currency: Currency = code.parse().map_err(|_| malformed("currency", &code))?;
        let terms = terms.as_ref().filter(|(_, book)| book.currency == currency);
        let last = last_instant(&period);
        let terms = terms.and_then(|(billing, book)| {
            let (prices, included) = (book.at(last)?, billing.included);
            Some(InvoiceTerms { prices, included, minimum: Micros(billing.minimum) })
        });
        let waiting = credits.get(&code).map_or(&[][..], Vec::as_slice);
        let Some(invoice) = bill(currency, &used, terms, waiting) else { continue };
        credits.remove(&code);
        let document = InvoiceDocument {
            seller: String::new(),
            customer: account.customer(),
            lines: invoice.lines,
        };
        let record = InvoiceRecord {
            tenant: account.tenant,
            name: InvoiceName::Draft { month: period.month, currency },
            state: InvoiceState::Draft,
            period,
            zone: account.billing.put.zone.clone(),
            currency,
            total: invoice.total,
            refunded: Micros(0),
            document,
            finalized_at: None,
            paid_at: None,
            voided_at: None,
        };
        drafts.push(Draft { record, carried: invoice.carried });
    }
    Ok(drafts)
}

fn last_instant(period: &Period) -> Timestamp {
    period.ends_at - chrono::TimeDelta::microseconds(1)
}

/// What was used in a month, by the code of the currency.
async fn used(
    tx: &mut PgConnection,
    tenant: TenantId,
    period: &Period,
) -> Result<BTreeMap<String, MonthUse>, StoreError> {
    let query = sqlx::query!(
        r#"select k.document ->> 'currency' as "currency!", nullif(u.value, '') as tier, sum(u.charged_attempts)::bigint as "attempts!",
                sum(u.attempts_cost)::bigint as "cost!", sum(u.tasks)::bigint as "tasks!", sum(u.tasks_cost)::bigint as "charge!",
                sum(u.attempts)::bigint as "all_attempts!", sum(u.fires)::bigint as "fires!", sum(u.fires_cost)::bigint as "fires_charge!",
                sum(u.stored_byte_days)::bigint as "stored_byte_days!", sum(u.stored_cost)::bigint as "stored!"
            from usage_rollup u join price_book k on k.name = u.price_book
            where u.tenant_id = $1 and u.kind = 'tier' and u.starts_at >= $2 and u.starts_at < $3
            group by 1, 2 order by 1, 2 nulls first"#,
        tenant.uuid(),
        period.starts_at,
        period.ends_at
    );
    let mut used = BTreeMap::<_, MonthUse>::new();
    for row in patient("invoice.used", query.fetch_all(tx)).await? {
        let month = used.entry(row.currency).or_default();
        let cost = Micros(row.cost);
        // Where nothing but output was stored there is no such line.
        if row.all_attempts > 0 || cost != Micros(0) {
            month.tiers.push(TierUse { tier: row.tier, attempts: row.attempts, cost });
        }
        month.tasks.pieces += row.tasks.unsigned_abs();
        month.tasks.charge = month.tasks.charge + Micros(row.charge);
        month.fires.pieces += row.fires.unsigned_abs();
        month.fires.charge = month.fires.charge + Micros(row.fires_charge);
        month.stored_byte_days += row.stored_byte_days.unsigned_abs();
        month.stored = month.stored + Micros(row.stored);
    }
    Ok(used)
}

/// How the tenant's plan is billed at the last instant of a month, or now, and the price book.
async fn terms(
    tx: &mut PgConnection,
    tenant: TenantId,
    period: &Period,
) -> Result<Option<(Billing, PriceBook)>, StoreError> {
    let query = sqlx::query!(
        r#"select b.billing::text as "billing!", k.document::text as "document!"
            from (select o.plan from tenant_plan o where o.tenant_id = $1 and o.since <= $2 order by o.since desc limit 1) t
            cross join lateral (select o.billing, o.price_book from plan_billing o where o.plan = t.plan and o.since <= $2
                order by o.since desc limit 1) b
            join price_book k on k.name = b.price_book"#,
        tenant.uuid(),
        last_instant(period)
    );
    let row = named("invoice.terms", query.fetch_optional(tx)).await?;
    row.map(|row| Ok((billing_of(&row.billing)?, book_of(&row.document)?))).transpose()
}
