//! Price books.

use super::Micros;
use crate::resources::Tier;
use crate::time::{Timestamp, format_time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Highest rate, micro-units: 10 000 units for an hour of a core.
pub const MOST_RATE: i64 = 10_000_000_000;
/// Days of a month for which stored output is priced.
pub const MONTH_DAYS: u32 = 30;
/// Most bands of delay tolerance.
pub const MOST_BANDS: usize = 10;
/// Most steps of volume.
pub const MOST_STEPS: usize = 10;
/// Most prices of one book: monthly changes for twenty years.
pub const MOST_PRICES: usize = 240;

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

/// What everything costs, in one currency, from one instant to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceBook {
    /// Of all its amounts.
    pub currency: Currency,
    /// Its prices, ascending by `effective_from`; at least one.
    pub prices: Vec<Prices>,
}

/// What everything costs, from an instant on. All amounts are micro-units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// When they begin to hold: for attempts that are placed from then on.
    #[serde(with = "instant")]
    pub effective_from: Timestamp,
    /// Resources that an attempt holds, by the hour.
    #[serde(default)]
    pub rates: Rates,
    /// In place of `rates` for tasks of a tier.
    #[serde(default)]
    pub tiers: BTreeMap<Tier, Rates>,
    /// By the piece.
    #[serde(default)]
    pub each: Each,
    /// What is cheaper.
    #[serde(default)]
    pub discounts: Discounts,
    /// What a month's charges above an amount are reduced by, ascending.
    #[serde(default)]
    pub volume: Vec<VolumeStep>,
}

/// Times as the API writes them, in the database's precision.
mod instant {
    use super::Timestamp;
    use crate::time::{format_time, parse_time};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format_time(*at))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
        parse_time(&String::deserialize(d)?).map_err(D::Error::custom)
    }
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
    /// A task, once, with its first attempt.
    pub task: i64,
    /// A fire of a schedule, once, with the first attempt of the task that it made, or of the first node of the run that it started.
    pub fire: i64,
    /// A GiB of stored output for [`MONTH_DAYS`] days.
    pub stored_gib_month: i64,
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
    /// The prices that hold at an instant; `None`: before the first.
    #[must_use]
    pub fn at(&self, at: Timestamp) -> Option<&Prices> {
        self.prices.iter().rev().find(|prices| prices.effective_from <= at)
    }

    /// The prices that hold at an instant, and those that are to come.
    #[must_use]
    pub fn known_at(&self, at: Timestamp) -> &[Prices] {
        let begun = self.prices.partition_point(|prices| prices.effective_from <= at);
        self.prices.get(begun.saturating_sub(1)..).unwrap_or_default()
    }

    /// What is wrong with it: JSON pointers, and what each should be.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if !(1..=MOST_PRICES).contains(&self.prices.len()) {
            problems.push(("/prices".to_owned(), format!("must have 1 to {MOST_PRICES} items")));
        }
        let mut last = None;
        for (at, prices) in self.prices.iter().enumerate() {
            let from = prices.effective_from;
            if let Some(last) = last.filter(|last| from <= *last) {
                let wanted = format!("must be after {}: items ascend", format_time(last));
                problems.push((format!("/prices/{at}/effective_from"), wanted));
            }
            last = Some(from);
            let of_prices = prices.problems().into_iter();
            problems.extend(
                of_prices.map(|(pointer, wanted)| (format!("/prices/{at}{pointer}"), wanted)),
            );
        }
        problems
    }

    /// What would change the price of something that is used already, if this took the place of `before` at the instant `now`: JSON
    /// pointers, and what each should be. Prices that are in effect stay, and others begin later.
    #[must_use]
    pub fn alterations(&self, before: &Self, now: Timestamp) -> Vec<(String, String)> {
        if self.currency != before.currency {
            let wanted = format!("must be {}: a price book keeps its currency", before.currency);
            return vec![("/currency".to_owned(), wanted)];
        }
        let begun = |book: &Self| {
            let prices = book.prices.iter();
            prices.take_while(|prices| prices.effective_from <= now).cloned().collect::<Vec<_>>()
        };
        let (before, after) = (begun(before), begun(self));
        let changed =
            (0..before.len().max(after.len())).find(|at| before.get(*at) != after.get(*at));
        let Some(at) = changed else { return Vec::new() };
        let wanted = match before.get(at) {
            Some(prices) => {
                let from = format_time(prices.effective_from);
                format!(
                    "must be as they are stored: the prices from {from} on are in effect; add prices with a later `effective_from`"
                )
            }
            None => {
                format!("must be after {}: what was used by then has its price", format_time(now))
            }
        };
        let pointer = if before.get(at).is_some() { "" } else { "/effective_from" };
        vec![(format!("/prices/{at}{pointer}"), wanted)]
    }
}

impl Prices {
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
        let Each { task, fire, stored_gib_month } = self.each;
        for (name, value) in
            [("task", task), ("fire", fire), ("stored_gib_month", stored_gib_month)]
        {
            rate(format!("/each/{name}"), value);
        }
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

    fn prices(changes: serde_json::Value) -> Prices {
        let mut prices =
            json!({ "effective_from": "2030-01-01T00:00:00Z", "rates": { "cpu_core": 40_000 } });
        crate::merge_patch::apply(&mut prices, changes);
        serde_json::from_value(prices).unwrap()
    }

    /// A book of one rate in each of these months.
    fn book(months: &[(&str, i64)]) -> PriceBook {
        let of_month = |(month, rate): &(&str, i64)| {
            prices(
                json!({ "effective_from": format!("{month}-01T00:00:00Z"), "rates": { "cpu_core": rate } }),
            )
        };
        PriceBook {
            currency: "EUR".parse().unwrap(),
            prices: months.iter().map(of_month).collect(),
        }
    }

    fn time(text: &str) -> Timestamp {
        crate::time::parse_time(text).unwrap()
    }

    fn pointers(problems: Vec<(String, String)>) -> Vec<String> {
        problems.into_iter().map(|(pointer, _)| pointer).collect()
    }

    #[test]
    fn prices_say_what_is_wrong_by_pointer() {
        assert_eq!(prices(json!({})).problems(), []);
        let wrong = prices(json!({
            "rates": { "port": -1 },
            "tiers": { "premium": { "cpu_core": MOST_RATE + 1 } },
            "each": { "task": -5, "fire": -1, "stored_gib_month": MOST_RATE + 1 },
            "discounts": { "flexible_percent": 101, "tolerance": [
                { "at_least_s": 60, "percent": 10 }, { "at_least_s": 60, "percent": 200 }] },
            "volume": [{ "above": 0, "percent": 1 }],
        }));
        assert_eq!(
            pointers(wrong.problems()),
            [
                "/tiers/premium/cpu_core",
                "/rates/port",
                "/each/task",
                "/each/fire",
                "/each/stored_gib_month",
                "/discounts/flexible_percent",
                "/discounts/tolerance/1/at_least_s",
                "/discounts/tolerance/1/percent",
                "/volume/0/above",
            ]
        );
        let many: Vec<_> = (1..12).map(|n| json!({ "above": n, "percent": 1 })).collect();
        assert_eq!(prices(json!({ "volume": many })).problems()[0].0, "/volume");
    }

    #[test]
    fn a_book_names_the_prices_that_are_wrong() {
        assert_eq!(book(&[("2030-01", 1), ("2030-02", 2)]).problems(), []);
        assert_eq!(pointers(book(&[]).problems()), ["/prices"]);
        let wrong = book(&[("2030-02", 1), ("2030-02", -1), ("2030-01", 1)]);
        assert_eq!(
            pointers(wrong.problems()),
            ["/prices/1/effective_from", "/prices/1/rates/cpu_core", "/prices/2/effective_from"]
        );
    }

    #[test]
    fn prices_hold_from_their_instant_to_the_next() {
        let book = book(&[("2030-01", 1), ("2030-02", 2)]);
        let rate = |at: &str| book.at(time(at)).map(|prices| prices.rates.cpu_core);
        assert_eq!(rate("2029-12-31T23:59:59.999999Z"), None);
        assert_eq!(rate("2030-01-01T00:00:00Z"), Some(1));
        assert_eq!(rate("2030-01-31T23:59:59.999999Z"), Some(1));
        assert_eq!(rate("2030-02-01T00:00:00Z"), Some(2));
    }

    #[test]
    fn what_is_in_effect_stays_and_what_is_not_may_change() {
        let before = book(&[("2030-01", 1), ("2030-03", 3)]);
        let now = time("2030-02-01T00:00:00Z");
        let altered = |after: &PriceBook| pointers(after.alterations(&before, now));
        assert_eq!(altered(&before), [""; 0]);
        assert_eq!(altered(&book(&[("2030-01", 1)])), [""; 0]);
        assert_eq!(altered(&book(&[("2030-01", 1), ("2030-04", 9)])), [""; 0]);
        assert_eq!(altered(&book(&[("2030-01", 2), ("2030-03", 3)])), ["/prices/0"]);
        assert_eq!(altered(&book(&[("2030-03", 3)])), ["/prices/0"]);
        assert_eq!(altered(&book(&[("2029-01", 1), ("2030-01", 1)])), ["/prices/0"]);
        // At the very instant is not later.
        assert_eq!(altered(&book(&[("2030-01", 1), ("2030-02", 2)])), ["/prices/1/effective_from"]);
        let dollars = PriceBook { currency: "USD".parse().unwrap(), ..before.clone() };
        assert_eq!(altered(&dollars), ["/currency"]);
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
        let prices = prices(
            json!({ "volume": [{ "above": 1000, "percent": 10 }, { "above": 3000, "percent": 50 }] }),
        );
        let off =
            [0, 1000, 1005, 2000, 3000, 5000].map(|sum| prices.volume_discount(Micros(sum)).0);
        // 10 % of 5 is half a micro-unit, which goes to the even 0.
        assert_eq!(off, [0, 0, 0, 100, 200, 1200]);
        assert_eq!(prices.volume_discount(Micros(-7)), Micros(0));
    }
}
