//! One day.
//!
//! Most of its attempts are read before the count is locked, up to where the count was; those that it reached meanwhile are read under
//! the lock, which is held for a moment.

use super::report::{CostCorrection, CostOfDay, DayRebuilt, RebuildError};
use super::stored::{RollupRows, correct, corrections, currencies, rows, tenants};
use super::window::kept_from;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::rollup::{self, StoredValues};
use crate::statement::named;
use chrono::{Days, NaiveDate, NaiveTime};
use domain::id::TenantId;
use domain::price::{Micros, Part, Rollup};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::{BTreeMap, BTreeSet};

/// Which day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildDay {
    /// UTC.
    pub day: NaiveDate,
    /// Of this tenant alone.
    pub tenant: Option<TenantId>,
    /// For how many days attempts are kept.
    pub retention_days: u32,
    /// Only compares.
    pub dry_run: bool,
}

impl RebuildDay {
    fn range(&self) -> [Timestamp; 2] {
        let next = self.day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
        [self.day, next].map(|day| day.and_time(NaiveTime::MIN).and_utc())
    }
}

/// Makes the roll-up of a day what the attempts that are kept come to, as far as they are counted.
///
/// # Errors
/// Where the day cannot be rebuilt, or the database cannot answer. Repeating it is safe.
pub async fn rebuild(db: &SchedulerDb, what: &RebuildDay) -> Result<DayRebuilt, RebuildError> {
    let (place, attempts, counted) = read(db, what).await?;
    let mut tx = named("begin", db.pool().begin()).await.map_err(RebuildError::from)?;
    wait_long(&mut tx).await?;
    let until = rollup::place(&mut tx, true).await?.ok_or(RebuildError::NotCounted)?;
    let since = (Some(place), until);
    let (more, counted_since) = rollup::of_day(db, &mut tx, what.day, since, what.tenant).await?;
    let tenants = tenants(&mut tx, what.tenant).await?;
    let before = rows(&mut tx, &tenants, what.range()).await?;
    let after = added_up([counted, counted_since], &tenants);
    let kept = values_kept(&before, &after);
    let after = rollup::bounded(after, kept);
    let corrections = corrections(&before, &after);
    let books = currencies(&mut tx).await?;
    let rebuilt = DayRebuilt {
        day: what.day,
        attempts: attempts + more,
        changed_rows: corrections.len(),
        changed_tenants: corrections.keys().map(|row| row.tenant).collect::<BTreeSet<_>>().len(),
        costs: costs(&before, &after, &books),
        corrections: cost_corrections(&corrections, &books),
    };
    if what.dry_run || corrections.is_empty() {
        named("rollback", tx.rollback()).await?;
    } else {
        correct(&mut tx, corrections, what.range()).await?;
        named("commit", tx.commit()).await?;
    }
    Ok(rebuilt)
}

/// The attempts of the day before the place where the count is.
async fn read(db: &SchedulerDb, what: &RebuildDay) -> Result<(i64, usize, Rollup), RebuildError> {
    let mut tx = named("begin", db.pool().begin()).await.map_err(RebuildError::from)?;
    let place = rollup::place(&mut tx, false).await?.ok_or(RebuildError::NotCounted)?;
    let (attempts, counted) =
        rollup::of_day(db, &mut tx, what.day, (None, place), what.tenant).await?;
    // Afterwards: the partitions that were read are locked, so that what is there now was there all the time.
    let first = kept_from(&mut tx, what.retention_days).await?;
    named("rollback", tx.rollback()).await?;
    if what.day < first {
        return Err(RebuildError::NotKept { day: what.day, first });
    }
    Ok((place, attempts, counted))
}

/// The first counts take long.
async fn wait_long(tx: &mut PgConnection) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        "select set_config('lock_timeout', '2min', true) || set_config('statement_timeout', '10min', true)"
    );
    named("usage_rebuild.wait_long", query.fetch_one(tx)).await.map(|_| ())
}

/// Both together, of these tenants.
fn added_up(rollups: [Rollup; 2], tenants: &BTreeSet<uuid::Uuid>) -> RollupRows {
    let mut rows = RollupRows::new();
    let all = rollups.into_iter().flat_map(Rollup::rows);
    for (row, amounts) in all.filter(|(row, _)| tenants.contains(&row.tenant.uuid())) {
        rows.entry(row).or_default().add(&amounts);
    }
    rows
}

/// The values of labels that are kept apart in `before` and have attempts: they stay so.
fn values_kept(before: &RollupRows, after: &RollupRows) -> StoredValues {
    let mut kept = StoredValues::new();
    let known: BTreeSet<_> = after.keys().filter_map(rollup::label_of).collect();
    for (label, value) in before.keys().filter_map(rollup::label_of) {
        let place = (label, value);
        if known.contains(&place) {
            kept.entry(place.0).or_default().insert(place.1);
        }
    }
    kept
}

type CurrencyOfBook = BTreeMap<String, String>;

/// The costs of all rows by currency; each attempt has one tier.
fn costs(before: &RollupRows, after: &RollupRows, books: &CurrencyOfBook) -> Vec<CostOfDay> {
    let mut costs = BTreeMap::<&String, [Micros; 2]>::new();
    for (place, rows) in [before, after].into_iter().enumerate() {
        for correction in priced(rows, books) {
            let sums = costs.entry(correction.currency).or_default();
            if let Some(sum) = sums.get_mut(place) {
                *sum = *sum + correction.cost;
            }
        }
    }
    let cost = |(currency, [before, after]): (&String, [Micros; 2])| CostOfDay {
        currency: currency.clone(),
        before,
        after,
    };
    costs.into_iter().map(cost).collect()
}

fn cost_corrections(corrections: &RollupRows, books: &CurrencyOfBook) -> Vec<CostCorrection> {
    let priced = priced(corrections, books).filter(|priced| priced.cost != Micros(0));
    let owned = priced.map(|Priced { tenant, starts_at, currency, cost }| CostCorrection {
        tenant,
        starts_at,
        currency: currency.clone(),
        cost,
    });
    owned.collect()
}

struct Priced<'a> {
    tenant: TenantId,
    starts_at: Timestamp,
    currency: &'a String,
    cost: Micros,
}

fn priced<'a>(rows: &'a RollupRows, books: &'a CurrencyOfBook) -> impl Iterator<Item = Priced<'a>> {
    rows.iter().filter_map(|(row, amounts)| {
        let currency = books.get(row.price_book.as_ref()?.as_str())?;
        let cost = amounts.cost();
        let (tenant, starts_at) = (row.tenant, row.starts_at);
        matches!(row.part, Part::Tier(_)).then_some(Priced { tenant, starts_at, currency, cost })
    })
}
