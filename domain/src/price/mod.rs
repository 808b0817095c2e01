//! Prices: what an attempt costs, and what a month comes to.
//!
//! All amounts are whole micro-units, millionths of the currency's unit ([`Micros`]). An attempt's cost is a fraction of whole
//! numbers, rounded once, half to even; every sum afterwards is a sum of whole numbers. So a bill is the sum of its attempts to the
//! last micro-unit, in whichever order and by whomever they are added.

mod book;
mod comparison;
mod cost;
mod history;
mod month;
mod put_billing;
mod quote;
mod reservation;
mod rollup;
mod rounding;

pub use book::{
    Currency, Discounts, Each, MONTH_DAYS, MOST_BANDS, MOST_PRICES, MOST_RATE, MOST_STEPS,
    ParseCurrencyError, PriceBook, Prices, Rates, ToleranceBand, VolumeStep,
};
pub use comparison::{ComparedAttempt, CostBefore, PriceComparison};
pub use cost::{CostParts, Use};
pub use history::{BookPrices, PriceHistory};
pub use month::{Bill, Billing, Counted, Included, Month};
pub use put_billing::PutBilling;
pub use quote::{Cheaper, PricedTasks, TaskQuote, cheaper};
pub use reservation::{Reservation, TaskPrice, TaskToPrice};
pub use rollup::{
    Amounts, EndedAttempt, MOST_VALUES, Part, QUARTER_S, ReservedCost, Rollup, RollupKey,
    StoredDay, quarter,
};

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};
use std::str::FromStr;

/// Millionths of a currency's unit. Negative ones are credits.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

/// A text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an amount in units of the currency, such as 12.50, with at most six digits after the point"
)]
pub struct ParseMicrosError;

/// Reads an amount in units of the currency that is not negative: `12`, `12.5`, `0.000001`.
impl FromStr for Micros {
    type Err = ParseMicrosError;

    fn from_str(text: &str) -> Result<Self, ParseMicrosError> {
        let (units, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(units) || !is_number(part) || part.len() > 6 {
            return Err(ParseMicrosError);
        }
        let number = |text: &str| text.parse::<i64>().map_err(|_| ParseMicrosError);
        let whole = number(units)?.checked_mul(1_000_000).ok_or(ParseMicrosError)?;
        whole.checked_add(number(&format!("{part:0<6}"))?).map(Self).ok_or(ParseMicrosError)
    }
}

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

impl Mul<u64> for Micros {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX)))
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
    fn amounts_are_read_in_units() {
        for (text, micros) in [
            ("12", 12_000_000),
            ("12.5", 12_500_000),
            ("0.000001", 1),
            ("0", 0),
            ("9223372036854.775807", i64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Micros(micros)), "{text}");
        }
        for text in
            ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000001", "9223372036854.775808"]
        {
            assert!(text.parse::<Micros>().is_err(), "{text}");
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
