//! The lines of an invoice, and what it comes to.

use crate::price::{Counted, Currency, Included, MONTH_DAYS, Micros, Month, Prices};
use serde::{Deserialize, Serialize};

/// What a line is about.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LineKind {
    /// The attempts of a tier.
    Attempts,
    /// The tasks.
    Tasks,
    /// The fires of schedules.
    Fires,
    /// Stored output.
    Stored,
    /// What the plan includes, negative.
    Included,
    /// What volume takes off, negative.
    Volume,
    /// What is missing to the plan's minimum.
    Minimum,
    /// A credit, negative; or a later charge.
    Credit,
    /// What credits exceed the charges by: the next invoice credits it.
    Carried,
    /// To the currency's smallest unit.
    Rounding,
}

impl LineKind {
    /// Every kind.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A line of an invoice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvoiceLine {
    /// Its place, from 1.
    pub line: u32,
    /// What it is about.
    pub kind: LineKind,
    /// The same in words.
    pub description: String,
    /// Of attempts: their tier; `None`: of tasks that gave resources.
    #[serde(default)]
    pub tier: Option<String>,
    /// Billed attempts, or tasks.
    #[serde(default)]
    pub quantity: Option<i64>,
    /// The price of each; `None` where they differ.
    #[serde(default)]
    pub unit_price: Option<Micros>,
    /// What it adds to the total.
    pub amount: Micros,
    /// The key of the credit.
    #[serde(default)]
    pub credit: Option<String>,
}

/// What attempts of a tier cost in a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierUse {
    /// Its name; `None`: of tasks that gave resources.
    pub tier: Option<String>,
    /// Billed attempts.
    pub attempts: i64,
    /// What they cost.
    pub cost: Micros,
}

/// What was used in a month, at prices in one currency.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonthUse {
    /// By tier, in the order of the lines.
    pub tiers: Vec<TierUse>,
    /// Tasks, each with its first attempt.
    pub tasks: Counted,
    /// Fires of schedules, each with the first attempt that it led to.
    pub fires: Counted,
    /// Bytes x days of stored output.
    pub stored_byte_days: u64,
    /// What it costs.
    pub stored: Micros,
}

impl MonthUse {
    /// Adds what is counted without a tier, or with any.
    fn month(&self) -> Month {
        let attempts = self.tiers.iter().map(|tier| tier.cost).sum();
        Month { attempts, tasks: self.tasks, fires: self.fires, stored: self.stored }
    }
}

/// What the tenant's plan says of a month, where it is in the invoice's currency.
#[derive(Debug, Clone, Copy)]
pub struct InvoiceTerms<'a> {
    /// The prices at the month's end: their volume steps hold.
    pub prices: &'a Prices,
    /// What the plan includes.
    pub included: Included,
    /// The least that a month comes to.
    pub minimum: Micros,
}

/// A credit that this invoice applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedCredit {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
    /// What it adds to the total: negative, or a later charge.
    pub amount: Micros,
}

/// What an invoice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    /// Its lines. They add up to `total`.
    pub lines: Vec<InvoiceLine>,
    /// What is to be paid: whole smallest units of the currency, not negative.
    pub total: Micros,
    /// What the next invoice credits, not negative.
    pub carried: Micros,
}

struct Lines(Vec<InvoiceLine>);

impl Lines {
    fn push(
        &mut self,
        kind: LineKind,
        description: impl Into<String>,
        amount: Micros,
    ) -> &mut InvoiceLine {
        let line = u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_add(1);
        let description = description.into();
        let (tier, quantity, unit_price, credit) = (None, None, None, None);
        self.0.push(InvoiceLine {
            line,
            kind,
            description,
            tier,
            quantity,
            unit_price,
            amount,
            credit,
        });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Pieces, where they cost anything.
    fn pieces(&mut self, kind: LineKind, description: &str, counted: Counted) {
        if counted.charge != Micros(0) {
            let pieces = i64::try_from(counted.pieces).unwrap_or(i64::MAX);
            let line = self.push(kind, description, counted.charge);
            line.quantity = Some(pieces);
            line.unit_price = each(counted.charge, pieces);
        }
    }

    /// A line, where it changes anything.
    fn unless_zero(&mut self, kind: LineKind, description: &str, amount: Micros) {
        if amount != Micros(0) {
            self.push(kind, description, amount);
        }
    }

    fn total(&self) -> Micros {
        self.0.iter().map(|line| line.amount).sum()
    }
}

/// The price of each of `quantity` pieces, where it is one.
fn each(amount: Micros, quantity: i64) -> Option<Micros> {
    (quantity > 0 && amount.0 % quantity == 0).then(|| Micros(amount.0 / quantity))
}

/// How much was stored, in GiB for a month of 30 days, to a thousandth, rounded down.
fn stored(byte_days: u64) -> String {
    let thousandths = u128::from(byte_days) * 1000 / (u128::from(MONTH_DAYS) << 30);
    format!("Stored output, {}.{:03} GiB months", thousandths / 1000, thousandths % 1000)
}

/// The invoice of a month; `None`: there is nothing to bill, and credits wait.
///
/// The total is rounded once, half to even, to the currency's smallest unit, and the difference is the last line.
#[must_use]
pub fn bill(
    currency: Currency,
    used: &MonthUse,
    terms: Option<InvoiceTerms<'_>>,
    credits: &[AppliedCredit],
) -> Option<Invoice> {
    let mut lines = Lines(Vec::new());
    for TierUse { tier, attempts, cost } in &used.tiers {
        let of = tier
            .as_deref()
            .map_or_else(|| "own resources".to_owned(), |tier| format!("tier {tier}"));
        let line = lines.push(LineKind::Attempts, format!("Attempts, {of}"), *cost);
        line.tier.clone_from(tier);
        line.quantity = Some(*attempts);
        line.unit_price = each(*cost, *attempts);
    }
    lines.pieces(LineKind::Tasks, "Tasks", used.tasks);
    lines.pieces(LineKind::Fires, "Fires of schedules", used.fires);
    lines.unless_zero(LineKind::Stored, &stored(used.stored_byte_days), used.stored);
    if let Some(InvoiceTerms { prices, included, minimum }) = terms {
        let bill = used.month().bill(prices, &included, minimum);
        lines.unless_zero(LineKind::Included, "Included in the plan", bill.included);
        lines.unless_zero(LineKind::Volume, "Discount for volume", bill.volume);
        lines.unless_zero(LineKind::Minimum, "To the plan's monthly minimum", bill.minimum);
    }
    if lines.0.is_empty() {
        return None;
    }
    for AppliedCredit { key, reason, amount } in credits {
        let kind = if amount.0 < 0 { "Credit" } else { "Charge" };
        lines.push(LineKind::Credit, format!("{kind}: {reason}"), *amount).credit =
            Some(key.clone());
    }
    let carried = Micros(lines.total().0.saturating_neg().max(0));
    lines.unless_zero(LineKind::Carried, "Carried to the next invoice", carried);
    let sum = lines.total();
    let total = sum.rounded(currency.digits());
    lines.unless_zero(LineKind::Rounding, "Rounding", total - sum);
    Some(Invoice { lines: lines.0, total, carried })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn prices() -> Prices {
        serde_json::from_value(json!({
            "effective_from": "2030-01-01T00:00:00Z",
            "volume": [{ "above": 10_000_000, "percent": 10 }, { "above": 20_000_000, "percent": 25 }],
        }))
        .unwrap()
    }

    fn tier(tier: Option<&str>, attempts: i64, cost: i64) -> TierUse {
        TierUse { tier: tier.map(str::to_owned), attempts, cost: Micros(cost) }
    }

    fn credit(key: &str, amount: i64) -> AppliedCredit {
        AppliedCredit { key: key.into(), reason: format!("of {key}"), amount: Micros(amount) }
    }

    fn currency(code: &str) -> Currency {
        code.parse().unwrap()
    }

    fn shown(invoice: &Invoice) -> Vec<String> {
        let line = |line: &InvoiceLine| {
            let quantity =
                line.quantity.map(|quantity| format!("{quantity} x ")).unwrap_or_default();
            let each = line.unit_price.map(|each| format!("{} ", each.0)).unwrap_or_default();
            format!("{} {}: {quantity}{each}= {}", line.line, line.description, line.amount.0)
        };
        invoice.lines.iter().map(line).collect()
    }

    #[test]
    fn every_part_of_a_month_is_a_line_and_the_lines_add_up() {
        let used = MonthUse {
            tiers: vec![tier(None, 3, 1_000_001), tier(Some("basic"), 10, 30_000_000)],
            tasks: Counted { pieces: 12, charge: Micros(60) },
            fires: Counted { pieces: 2, charge: Micros(14) },
            stored_byte_days: 46 << 30,
            stored: Micros(9_000),
        };
        let included = Included { attempts: 1_000_000, tasks: 4, fires: 1 };
        let prices = prices();
        let terms = InvoiceTerms { prices: &prices, included, minimum: Micros(5_000_000) };
        let invoice =
            bill(currency("EUR"), &used, Some(terms), &[credit("a", -5_000_000), credit("b", 7)])
                .unwrap();
        // 30 009 048 are left of the included; above 20 a quarter is taken off, and of the ten before a tenth.
        assert_eq!(
            shown(&invoice),
            [
                "1 Attempts, own resources: 3 x = 1000001",
                "2 Attempts, tier basic: 10 x 3000000 = 30000000",
                "3 Tasks: 12 x 5 = 60",
                "4 Fires of schedules: 2 x 7 = 14",
                "5 Stored output, 1.533 GiB months: = 9000",
                "6 Included in the plan: = -1000027",
                "7 Discount for volume: = -3502262",
                "8 Credit: of a: = -5000000",
                "9 Charge: of b: = 7",
                "10 Rounding: = 3207",
            ]
        );
        assert_eq!((invoice.total, invoice.carried), (Micros(21_510_000), Micros(0)));
    }

    #[test]
    fn the_total_is_rounded_once_half_to_even_to_the_smallest_unit() {
        let total = |code: &str, parts: &[i64]| {
            let tiers = parts.iter().map(|cost| tier(None, 1, *cost)).collect();
            let used = MonthUse { tiers, ..MonthUse::default() };
            bill(currency(code), &used, None, &[]).unwrap().total.0
        };
        assert_eq!(total("EUR", &[5_000]), 0);
        assert_eq!(total("EUR", &[15_000]), 20_000);
        assert_eq!(total("EUR", &[4_999, 4_999, 4_999]), 10_000, "not each line by itself");
        assert_eq!(total("JPY", &[2_500_000]), 2_000_000);
        assert_eq!(total("JPY", &[2_500_001]), 3_000_000);
        assert_eq!(total("KWD", &[1_500]), 2_000);
    }

    #[test]
    fn a_minimum_is_billed_without_use_and_credits_alone_make_no_invoice() {
        let prices = prices();
        let terms = |minimum| InvoiceTerms {
            prices: &prices,
            included: Included::default(),
            minimum: Micros(minimum),
        };
        let none = MonthUse::default();
        let invoice = bill(currency("EUR"), &none, Some(terms(9_990_000)), &[]).unwrap();
        assert_eq!(shown(&invoice), ["1 To the plan's monthly minimum: = 9990000"]);
        assert_eq!(bill(currency("EUR"), &none, Some(terms(0)), &[credit("a", -1)]), None);
        assert_eq!(bill(currency("EUR"), &none, None, &[credit("a", -1)]), None);
    }

    #[test]
    fn what_credits_exceed_the_charges_by_is_carried_to_the_next_invoice() {
        let used =
            MonthUse { tiers: vec![tier(Some("basic"), 1, 3_000_005)], ..MonthUse::default() };
        let invoice = bill(currency("EUR"), &used, None, &[credit("a", -10_000_000)]).unwrap();
        assert_eq!(shown(&invoice)[2], "3 Carried to the next invoice: = 6999995");
        assert_eq!(
            (invoice.total, invoice.carried, invoice.lines.len()),
            (Micros(0), Micros(6_999_995), 3)
        );
    }

    proptest! {
        /// Whatever was used and credited, lines add up to a total of whole units that is not negative.
        #[test]
        fn lines_add_up(
            costs in proptest::collection::vec(0..=1_000_000_000_000_i64, 0..6), charge in 0..=1_000_000_000_i64, pieces in 1..=1000_u64,
            credits in proptest::collection::vec(-1_000_000_000_000..=1_000_000_000_i64, 0..4), minimum in 0..=1_000_000_000_i64,
            code in prop_oneof![Just("EUR"), Just("JPY"), Just("KWD")],
        ) {
            let used = MonthUse {
                tiers: costs.iter().map(|cost| tier(None, 1, *cost)).collect(),
                tasks: Counted { pieces, charge: Micros(charge) },
                fires: Counted { pieces: pieces + 1, charge: Micros(charge / 3) },
                stored_byte_days: pieces,
                stored: Micros(charge / 7),
            };
            let prices = prices();
            let terms = InvoiceTerms { prices: &prices, included: Included { attempts: 5_000, tasks: 3, fires: 2 }, minimum: Micros(minimum) };
            let credits: Vec<_> = credits.iter().map(|amount| credit("c", *amount)).collect();
            if let Some(invoice) = bill(currency(code), &used, Some(terms), &credits) {
                prop_assert_eq!(invoice.lines.iter().map(|line| line.amount).sum::<Micros>(), invoice.total);
                prop_assert!(invoice.total.0 >= 0 && invoice.carried.0 >= 0);
                prop_assert_eq!(invoice.total, invoice.total.rounded(currency(code).digits()));
                let places = invoice.lines.iter().map(|line| line.line);
                prop_assert!(places.eq(1..=u32::try_from(invoice.lines.len()).unwrap()));
            }
        }
    }
}
