//! Prices: what an attempt costs, and what a month comes to.
//!
//! All amounts are whole micro-units, millionths of the currency's unit ([`Micros`]). An attempt's cost is a fraction of whole
//! numbers, rounded once, half to even; every sum afterwards is a sum of whole numbers. So a bill is the sum of its attempts to the
//! last micro-unit, in whichever order and by whomever they are added.

mod book;
mod cost;
mod history;
mod month;
mod put_billing;
mod rollup;
mod rounding;

pub use book::{
    Currency, Discounts, Each, MOST_BANDS, MOST_PRICES, MOST_RATE, MOST_STEPS, ParseCurrencyError,
    PriceBook, Prices, Rates, ToleranceBand, VolumeStep,
};
pub use cost::Use;
pub use history::{BookPrices, PriceHistory};
pub use month::{Bill, Billing, Counted, Included, Month};
pub use put_billing::PutBilling;
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

impl Micros {
    /// In units of the currency, with at least as many `digits` after the point, and with all that are not zeros: `12.30`, `-0.000015`.
    #[must_use]
    pub fn in_units(self, digits: u16) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (units, rest) = (self.0.unsigned_abs() / 1_000_000, self.0.unsigned_abs() % 1_000_000);
        let fraction = format!("{rest:06}");
        let kept = fraction.trim_end_matches('0').len().max(digits.into()).min(6);
        match fraction.get(..kept) {
            Some(fraction) if !fraction.is_empty() => format!("{sign}{units}.{fraction}"),
            _ => format!("{sign}{units}"),
        }
    }

    /// Rounded half to even to the smallest unit of a currency with as many `digits` after the point.
    #[must_use]
    pub fn rounded(self, digits: u16) -> Self {
        let unit = 10_u128.pow(u32::from(6_u16.saturating_sub(digits)));
        let units = rounding::half_even(self.0.unsigned_abs().into(), unit);
        let rounded = units.0.saturating_mul(i64::try_from(unit).unwrap_or(i64::MAX));
        Self(if self.0 < 0 { -rounded } else { rounded })
    }
}

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

#[cfg(test)]
mod tests {
    use super::Micros;

    #[test]
    fn amounts_are_rounded_half_to_even_to_the_currencys_smallest_unit() {
        for (micros, digits, rounded) in [
            (5_000, 2, 0),
            (5_001, 2, 10_000),
            (15_000, 2, 20_000),
            (-15_000, 2, -20_000),
            (-5_000, 2, 0),
            (1_500_000, 0, 2_000_000),
            (2_500_000, 0, 2_000_000),
            (1_500, 3, 2_000),
            (123, 6, 123),
            (123, 9, 123),
        ] {
            assert_eq!(Micros(micros).rounded(digits), Micros(rounded), "{micros} {digits}");
        }
    }

    #[test]
    fn amounts_are_shown_with_all_their_digits_and_those_of_the_currency() {
        for (micros, digits, text) in [
            (0, 2, "0.00"),
            (12_300_000, 2, "12.30"),
            (12_345_678, 2, "12.345678"),
            (-15, 2, "-0.000015"),
            (5_000_000, 0, "5"),
            (5_500_000, 0, "5.5"),
            (1_000, 3, "0.001"),
            (i64::MIN, 2, "-9223372036854.775808"),
        ] {
            assert_eq!(Micros(micros).in_units(digits), text);
        }
    }
}
