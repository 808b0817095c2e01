//! Price books.

use super::Micros;
use crate::resources::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Highest rate, micro-units: 10 000 units for an hour of a core.
pub const MOST_RATE: i64 = 10_000_000_000;
/// Most bands of delay tolerance.
pub const MOST_BANDS: usize = 10;
/// Most steps of volume.
pub const MOST_STEPS: usize = 10;

/// A currency, by its code of ISO 4217.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

/// A text is no currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no currency: give a code of ISO 4217, such as EUR")]
pub struct ParseCurrencyError(String);

impl Currency {
    /// Digits after the decimal point in which people write amounts, 0 to 4.
    #[must_use]
    pub fn digits(self) -> u16 {
        self.0.exponent().unwrap_or(0)
    }
}

impl FromStr for Currency {
    type Err = ParseCurrencyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        iso_currency::Currency::from_code(text)
            .map(Self)
            .ok_or_else(|| ParseCurrencyError(text.to_owned()))
    }
}

impl TryFrom<String> for Currency {
    type Error = ParseCurrencyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

/// What everything costs, from an instant on. All amounts are micro-units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceBook {
    /// Of all its amounts.
    pub currency: Currency,
    /// Resources that an attempt holds, by the hour.
    pub rates: Rates,
    /// In place of `rates` for tasks of a tier.
    #[serde(default)]
    pub tiers: BTreeMap<Tier, Rates>,
    /// By the piece.
    #[serde(default)]
    pub each: Each,
    /// A GiB of output and results, kept for 30 days.
    #[serde(default)]
    pub stored_gib_month: i64,
    /// What is cheaper.
    #[serde(default)]
    pub discounts: Discounts,
    /// What a month's charges above an amount are reduced by, ascending.
    #[serde(default)]
    pub volume: Vec<VolumeStep>,
}

/// Micro-units for an hour of a resource, whether it is used or only held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rates {
    /// A core.
    pub cpu_core: i64,
    /// A GiB of memory.
    pub memory_gib: i64,
    /// A GiB of disk.
    pub disk_gib: i64,
    /// 1000 disk operations a second.
    pub thousand_iops: i64,
    /// A port.
    pub port: i64,
}

/// Micro-units a piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Each {
    /// A task that was accepted.
    pub task: i64,
    /// A due time of a schedule that made a task or started a run.
    pub fire: i64,
    /// An event that was delivered.
    pub event: i64,
}

/// What resources cost less for. Both apply: 20 % and 30 % make 44 %.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Discounts {
    /// By delay tolerance, ascending; the last band that fits holds.
    pub tolerance: Vec<ToleranceBand>,
    /// Of tasks that are `flexible`, percent, 0 to 100.
    pub flexible_percent: u8,
}

/// A discount for tasks that may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToleranceBand {
    /// Delay tolerance from which it holds, seconds, above 0.
    pub at_least_s: u64,
    /// Percent, 0 to 100.
    pub percent: u8,
}

/// A discount for much use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeStep {
    /// Charges of a month above this are reduced, micro-units, above 0.
    pub above: i64,
    /// By this, percent, 0 to 100.
    pub percent: u8,
}

impl Rates {
    fn all(&self) -> [(&'static str, i64); 5] {
        [
            ("cpu_core", self.cpu_core),
            ("memory_gib", self.memory_gib),
            ("disk_gib", self.disk_gib),
            ("thousand_iops", self.thousand_iops),
            ("port", self.port),
        ]
    }
}

const PERCENT: &str = "must be from 0 to 100";

/// A list of percentages, each from a value on.
struct Ladder {
    pointer: &'static str,
    /// The field of the value.
    from: &'static str,
    most: usize,
}

impl Ladder {
    /// Of items with their value and percentage: too many, values that do not ascend from above 0, and what is no percentage.
    fn problems(&self, items: impl ExactSizeIterator<Item = (u64, u8)>) -> Vec<(String, String)> {
        let Self { pointer, from, most } = self;
        let mut problems = Vec::new();
        if items.len() > *most {
            problems.push(((*pointer).to_owned(), format!("must have at most {most} items")));
        }
        let mut last = 0;
        for (at, (value, percent)) in items.enumerate() {
            if value <= last {
                let wanted = format!("must be more than {last}: items ascend");
                problems.push((format!("{pointer}/{at}/{from}"), wanted));
            }
            if percent > 100 {
                problems.push((format!("{pointer}/{at}/percent"), PERCENT.to_owned()));
            }
            last = last.max(value);
        }
        problems
    }
}

impl PriceBook {
    /// The rates of a tier; `None`: of tasks that gave resources.
    #[must_use]
    pub fn rates_of(&self, tier: Option<Tier>) -> &Rates {
        tier.and_then(|tier| self.tiers.get(&tier)).unwrap_or(&self.rates)
    }

    /// What is wrong with it: JSON pointers, and what each should be.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut rate = |pointer: String, value: i64| {
            if !(0..=MOST_RATE).contains(&value) {
                problems.push((pointer, format!("must be from 0 to {MOST_RATE} micro-units")));
            }
        };
        let tiers = self.tiers.iter().map(|(tier, rates)| (format!("/tiers/{tier}"), rates));
        for (pointer, rates) in tiers.chain([("/rates".to_owned(), &self.rates)]) {
            rates
                .all()
                .into_iter()
                .for_each(|(name, value)| rate(format!("{pointer}/{name}"), value));
        }
        let Each { task, fire, event } = self.each;
        for (name, value) in [("task", task), ("fire", fire), ("event", event)] {
            rate(format!("/each/{name}"), value);
        }
        rate("/stored_gib_month".to_owned(), self.stored_gib_month);
        problems.extend(self.discount_problems());
        problems
    }

    fn discount_problems(&self) -> Vec<(String, String)> {
        let Discounts { tolerance, flexible_percent } = &self.discounts;
        let mut problems = Vec::new();
        if *flexible_percent > 100 {
            problems.push(("/discounts/flexible_percent".to_owned(), PERCENT.to_owned()));
        }
        let bands =
            Ladder { pointer: "/discounts/tolerance", from: "at_least_s", most: MOST_BANDS };
        problems
            .extend(bands.problems(tolerance.iter().map(|band| (band.at_least_s, band.percent))));
        let steps = Ladder { pointer: "/volume", from: "above", most: MOST_STEPS };
        let above = |step: &VolumeStep| step.above.max(0).unsigned_abs();
        problems.extend(steps.problems(self.volume.iter().map(|step| (above(step), step.percent))));
        problems
    }

    /// Of a sum of charges, what volume takes off, not negative.
    #[must_use]
    pub fn volume_discount(&self, charges: Micros) -> Micros {
        let ends = self.volume.iter().skip(1).map(|step| step.above).chain([i64::MAX]);
        let of_step = |(step, end): (&VolumeStep, i64)| {
            let part = charges.0.min(end).saturating_sub(step.above).max(0);
            super::rounding::share(Micros(part), step.percent.into(), 100)
        };
        self.volume.iter().zip(ends).map(of_step).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn book(changes: serde_json::Value) -> PriceBook {
        let mut book = json!({ "currency": "EUR", "rates": { "cpu_core": 40_000 } });
        crate::merge_patch::apply(&mut book, changes);
        serde_json::from_value(book).unwrap()
    }

    #[test]
    fn a_book_says_what_is_wrong_by_pointer() {
        assert_eq!(book(json!({})).problems(), []);
        let wrong = book(json!({
            "rates": { "port": -1 },
            "tiers": { "premium": { "cpu_core": MOST_RATE + 1 } },
            "each": { "fire": -5 },
            "discounts": { "flexible_percent": 101, "tolerance": [
                { "at_least_s": 60, "percent": 10 }, { "at_least_s": 60, "percent": 200 }] },
            "volume": [{ "above": 0, "percent": 1 }],
        }));
        let pointers: Vec<_> = wrong.problems().into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(
            pointers,
            [
                "/tiers/premium/cpu_core",
                "/rates/port",
                "/each/fire",
                "/discounts/flexible_percent",
                "/discounts/tolerance/1/at_least_s",
                "/discounts/tolerance/1/percent",
                "/volume/0/above",
            ]
        );
        let many: Vec<_> = (1..12).map(|n| json!({ "above": n, "percent": 1 })).collect();
        assert_eq!(book(json!({ "volume": many })).problems()[0].0, "/volume");
    }

    #[test]
    fn currencies_are_those_of_the_standard() {
        for (code, digits) in [("EUR", 2), ("JPY", 0), ("KWD", 3)] {
            let currency: Currency = code.parse().unwrap();
            assert_eq!((currency.to_string().as_str(), currency.digits()), (code, digits));
        }
        for code in ["", "eur", "EURO", "ZZZ"] {
            assert!(code.parse::<Currency>().is_err(), "{code}");
        }
    }

    #[test]
    fn volume_reduces_what_lies_above_each_step() {
        let book = book(
            json!({ "volume": [{ "above": 1000, "percent": 10 }, { "above": 3000, "percent": 50 }] }),
        );
        let off = [0, 1000, 1005, 2000, 3000, 5000].map(|sum| book.volume_discount(Micros(sum)).0);
        // 10 % of 5 is half a micro-unit, which goes to the even 0.
        assert_eq!(off, [0, 0, 0, 100, 200, 1200]);
        assert_eq!(book.volume_discount(Micros(-7)), Micros(0));
    }
}
