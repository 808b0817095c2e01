//! Prices: what an attempt costs, and what a month comes to.
//!
//! All amounts are whole micro-units, millionths of the currency's unit ([`Micros`]). An attempt's cost is a fraction of whole
//! numbers, rounded once, half to even; every sum afterwards is a sum of whole numbers. So a bill is the sum of its attempts to the
//! last micro-unit, in whichever order and by whomever they are added.

mod book;
mod cost;
mod history;
mod month;
mod put_plan;
mod rollup;
mod rounding;

pub use book::{
    Currency, Discounts, Each, MOST_BANDS, MOST_PRICES, MOST_RATE, MOST_STEPS, ParseCurrencyError,
    PriceBook, Prices, Rates, ToleranceBand, VolumeStep,
};
pub use cost::Use;
pub use history::{BookPrices, PriceHistory};
pub use month::{Bill, Billing, Counted, Included, Month};
pub use put_plan::{PutBilling, PutPlan};
pub use rollup::{Amounts, EndedAttempt, MOST_VALUES, Part, QUARTER_S, Rollup, RollupKey, quarter};

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, Neg, Sub};

/// Millionths of a currency's unit. Negative ones are credits.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

// Sums stop at the ends of the range: 9 million million units.
impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Micros {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}
