//! What a rebuild found.

use crate::StoreError;
use chrono::NaiveDate;
use domain::id::TenantId;
use domain::price::Micros;
use domain::time::Timestamp;

/// Why a day is not rebuilt: nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// What was there before the first count is still being counted.
    #[error(
        "the days before the first count are still being counted: try again when berth_event_lag_seconds{{consumer=\"usage\"}} is low"
    )]
    NotCounted,
    /// Not all attempts of the day are kept.
    #[error("the attempts of {day} are not all kept: the first day that can be rebuilt is {first}")]
    NotKept {
        /// The day.
        day: NaiveDate,
        /// The first day of which all are kept.
        first: NaiveDate,
    },
    /// The database cannot answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A day that was rebuilt, or compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRebuilt {
    /// UTC.
    pub day: NaiveDate,
    /// Attempts that ended on it.
    pub attempts: usize,
    /// Rows of the roll-up that were wrong, missing or too many.
    pub changed_rows: usize,
    /// Tenants whose rows these are.
    pub changed_tenants: usize,
    /// What the day cost, by currency.
    pub costs: Vec<CostOfDay>,
    /// Where costs were wrong.
    pub corrections: Vec<CostCorrection>,
}

/// What a day cost in a currency, of all tenants that were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostOfDay {
    /// The currency's code.
    pub currency: String,
    /// By the roll-up as it was.
    pub before: Micros,
    /// By the attempts, and what was stored.
    pub after: Micros,
}

/// By how much the cost of a quarter of an hour was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostCorrection {
    /// Whose.
    pub tenant: TenantId,
    /// The quarter's beginning.
    pub starts_at: Timestamp,
    /// The currency's code.
    pub currency: String,
    /// What is added.
    pub cost: Micros,
}

/// A final or paid invoice that bills other costs of what was used than the roll-up has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceDifference {
    /// Whose.
    pub tenant: TenantId,
    /// Its number.
    pub number: String,
    /// How it stands.
    pub state: String,
    /// The currency's code.
    pub currency: String,
    /// What its lines of attempts, tasks, fires and stored output come to.
    pub billed: Micros,
    /// What they come to by the roll-up.
    pub counted: Micros,
}
