//! The whole of it, in one read-only transaction.

use super::asked::Asked;
use super::attempts;
use super::rolled_up;
use crate::StoreError;
use crate::connect::AdminDb;
use crate::price_book::billing_of;
use crate::price_history::KnownPrices;
use crate::statement::{named, patient};
use chrono::NaiveDate;
use domain::id::{PriceBookName, TenantId};
use domain::price::{Bill, Included, Micros, Month, PriceBook, PriceComparison, Prices};
use domain::time::{Timestamp, millis};
use runtime::clock::monotonic;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use std::time::Duration;

/// Attempts that one run reads at most.
pub const MOST_ATTEMPTS: i64 = 3_000_000;

/// What is asked.
#[derive(Debug, Clone)]
pub struct DryRun {
    /// The other prices: the last ones of this book, for all of the time.
    pub book: PriceBook,
    /// Attempts that ended from here,
    pub from: Timestamp,
    /// to here, excluded; both at the beginning of a day.
    pub until: Timestamp,
    /// Only of tenants whose plan names this price book.
    pub price_book: Option<PriceBookName>,
    /// Only of this tenant.
    pub tenant: Option<TenantId>,
    /// How long it may take.
    pub limit: Duration,
}

/// A tenant's use, as it was priced and by the other prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRunTenant {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name; `None` where it was purged.
    pub name: Option<String>,
    /// Its plan.
    pub plan: String,
    /// What was used.
    pub used: PriceComparison,
    /// What the month came to, with what the plan includes now, its minimum and volume.
    pub before: Bill,
    /// The same by the other prices.
    pub after: Bill,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DryRunOutcome {
    /// Tenants that used anything.
    Done {
        /// By id.
        tenants: Vec<DryRunTenant>,
        /// Earlier days are computed from sums.
        exact_from: NaiveDate,
    },
    /// There are more attempts than one run reads: how many.
    TooMany(i64),
    /// It took too long.
    TooLong,
}

/// A tenant, and how its plan is billed now.
struct Terms {
    name: Option<String>,
    plan: String,
    billing: Option<domain::price::Billing>,
}

/// Compares.
///
/// # Errors
/// When the database cannot answer.
pub async fn run(db: &AdminDb, asked: &DryRun) -> Result<DryRunOutcome, StoreError> {
    let began = monotonic();
    let Some(prices) = asked.book.prices.last() else {
        let (tenants, exact_from) = (Vec::new(), asked.from.date_naive());
        return Ok(DryRunOutcome::Done { tenants, exact_from });
    };
    let mut tx = named("begin", db.pool().begin()).await?;
    prepare(&mut tx, asked.limit).await?;
    let mut known = KnownPrices::read(&mut tx).await?;
    let terms = terms(&mut tx, asked).await?;
    known.know(&mut tx, terms.keys().map(|id| TenantId(*id))).await?;
    let exact_from = first_day(&mut tx, asked.from.date_naive()).await?;
    let exact_at = exact_from.and_time(chrono::NaiveTime::MIN).and_utc();
    let split = exact_at.clamp(asked.from, asked.until);
    let ids: Vec<_> = terms.keys().copied().collect();
    let many = rolled_up::attempts(&mut tx, &ids, [split, asked.until]).await?;
    if many > MOST_ATTEMPTS {
        return Ok(DryRunOutcome::TooMany(many));
    }
    let of = Asked { prices, currency: asked.book.currency, known: &known, tenants: &ids };
    let mut used = rolled_up::compare(&mut tx, &of, [asked.from, split]).await?;
    attempts::compare_stored(&mut tx, &of, [split, asked.until], &mut used).await?;
    let is_over = || began.elapsed() >= asked.limit;
    match attempts::compare(&mut tx, &of, [split, asked.until], (&mut used, &is_over)).await {
        Ok(true) => {}
        Ok(false) | Err(StoreError::Timeout) => return Ok(DryRunOutcome::TooLong),
        Err(error) => return Err(error),
    }
    let tenants = used.into_iter().filter(|(_, used)| !used.is_empty());
    let tenants = tenants.filter_map(|(id, used)| {
        let Terms { name, plan, billing } = terms.get(&id)?;
        let (before, after) = bills(&of, billing.as_ref(), &used, asked.until);
        let (name, plan) = (name.clone(), plan.clone());
        Some(DryRunTenant { tenant: TenantId(id), name, plan, used, before, after })
    });
    let tenants = tenants.collect();
    Ok(DryRunOutcome::Done { tenants, exact_from })
}

/// What the month comes to, as it was and by the other prices. What the plan includes counts where it is in their currency.
fn bills(
    of: &Asked<'_>,
    billing: Option<&domain::price::Billing>,
    used: &PriceComparison,
    until: Timestamp,
) -> (Bill, Bill) {
    let book = billing.and_then(|billing| of.known.history.named(&billing.price_book));
    let same = billing.zip(book).filter(|(_, book)| book.currency == of.currency);
    let last = until - chrono::TimeDelta::microseconds(1);
    let before = same.and_then(|(_, book)| book.at(last));
    let (included, minimum) = same.map_or((Included::default(), Micros(0)), |(billing, _)| {
        (billing.included, Micros(billing.minimum))
    });
    let plain = |month: Month| {
        let charges = month.attempts + month.tasks.charge + month.fires.charge + month.stored;
        Bill { charges, total: charges, ..Bill::default() }
    };
    let bill = |month: Month, prices: &Prices| month.bill(prices, &included, minimum);
    let before = before.map_or_else(|| plain(used.before), |prices| bill(used.before, prices));
    (before, bill(used.after, of.prices))
}

/// Attempts of a day are read whole: each statement is planned for itself, and none takes longer than the limit.
async fn prepare(tx: &mut PgConnection, limit: Duration) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        "select set_config('transaction_read_only', 'on', true) || set_config('enable_bitmapscan', 'on', true)
            || set_config('enable_seqscan', 'on', true) || set_config('plan_cache_mode', 'force_custom_plan', true)
            || set_config('statement_timeout', $1, true)",
        millis(limit).to_string()
    );
    named("price_dry_run.prepare", query.fetch_one(tx)).await.map(|_| ())
}

/// The tenants that are asked for.
async fn terms(
    tx: &mut PgConnection,
    asked: &DryRun,
) -> Result<BTreeMap<uuid::Uuid, Terms>, StoreError> {
    let query = sqlx::query!(
        r#"select t.id, t.name, t.plan, p.billing::text as billing
            from tenant t left join plan p on p.name = t.plan
            where ($1::uuid is null or t.id = $1) and ($2::text is null or p.price_book = $2)"#,
        asked.tenant.map(TenantId::uuid),
        asked.price_book.as_ref().map(PriceBookName::as_str)
    );
    let mut terms = BTreeMap::new();
    for row in patient("price_dry_run.tenants", query.fetch_all(tx)).await? {
        let billing = row.billing.as_deref().map(billing_of).transpose()?;
        terms.insert(row.id, Terms { name: row.name, plan: row.plan, billing });
    }
    Ok(terms)
}

/// The first day of which attempts are kept, from `from` on.
async fn first_day(tx: &mut PgConnection, from: NaiveDate) -> Result<NaiveDate, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select greatest($1::date, coalesce((select min(to_date(right(c.relname, 8), 'YYYYMMDD'))
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'public.attempt'::regclass and c.relname ~ '_[0-9]{8}$'), $1)) as "first!""#,
        from
    );
    let first = named("price_dry_run.first_day", query.fetch_optional(tx)).await?;
    first.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
}
