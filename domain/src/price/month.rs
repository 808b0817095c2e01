//! What a month comes to, by what a plan includes.

use super::rounding::{half_even, share};
use super::{Micros, Prices};
use crate::id::PriceBookName;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Highest amount that a plan names for a month, micro-units: a thousand million units.
const MOST_MONTH: i64 = 1_000_000_000_000_000;
/// Most tasks, and most fires, that a plan includes.
const MOST_TASKS: u64 = 1_000_000_000_000;

/// By which prices a plan is billed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Billing {
    /// The price book. All amounts are of its currency.
    pub price_book: PriceBookName,
    /// What each month includes.
    #[serde(default)]
    pub included: Included,
    /// The least that a month comes to, micro-units.
    #[serde(default)]
    pub minimum: i64,
}

/// What a plan includes in each month.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Included {
    /// Of the cost of attempts, micro-units.
    pub attempts: i64,
    /// Tasks.
    pub tasks: u64,
    /// Fires of schedules.
    pub fires: u64,
}

/// A number of pieces, and what they were charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Pieces.
    pub pieces: u64,
    /// The sum of their prices, each as it was then.
    pub charge: Micros,
}

/// What was used in a month, priced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Month {
    /// The costs of its attempts.
    pub attempts: Micros,
    /// Tasks, each with its first attempt.
    pub tasks: Counted,
    /// Fires of schedules, each with the first attempt that it led to.
    pub fires: Counted,
    /// The costs of stored output.
    pub stored: Micros,
}

/// What a month comes to. `total` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    /// All that was used, at its price.
    pub charges: Micros,
    /// What the plan includes, negative.
    pub included: Micros,
    /// What volume takes off, negative.
    pub volume: Micros,
    /// What is missing to the minimum.
    pub minimum: Micros,
    /// What is to be paid.
    pub total: Micros,
}

impl Billing {
    /// What is wrong with it: JSON pointers, and what each should be.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let amounts = [("/included/attempts", self.included.attempts), ("/minimum", self.minimum)];
        let amounts = amounts.into_iter().filter(|(_, amount)| !(0..=MOST_MONTH).contains(amount));
        let wanted = |most: &dyn std::fmt::Display, of| format!("must be from 0 to {most}{of}");
        let mut problems: Vec<_> = amounts
            .map(|(pointer, _)| (pointer.to_owned(), wanted(&MOST_MONTH, " micro-units")))
            .collect();
        let Included { tasks, fires, .. } = self.included;
        for (pointer, pieces) in [("/included/tasks", tasks), ("/included/fires", fires)] {
            if pieces > MOST_TASKS {
                problems.push((pointer.to_owned(), wanted(&MOST_TASKS, "")));
            }
        }
        problems
    }
}

impl Counted {
    /// What the first `included` pieces were charged: of pieces with different prices their share of all.
    fn included(self, included: u64) -> Micros {
        share(self.charge, included, self.pieces)
    }
}

impl Month {
    /// What it will be in `left` from now, if as much is used as in the `recent` time of this `length`.
    #[must_use]
    pub fn forecast(&self, recent: &Self, length: Duration, left: Duration) -> Self {
        let ahead = |amount: u64| {
            let scaled = u128::from(amount) * left.as_millis();
            half_even(scaled, length.as_millis().max(1))
        };
        let charge = |amount: Micros| ahead(amount.0.max(0).unsigned_abs());
        let counted = |so_far: Counted, recent: Counted| Counted {
            pieces: so_far.pieces + ahead(recent.pieces).0.unsigned_abs(),
            charge: so_far.charge + charge(recent.charge),
        };
        Self {
            attempts: self.attempts + charge(recent.attempts),
            tasks: counted(self.tasks, recent.tasks),
            fires: counted(self.fires, recent.fires),
            stored: self.stored + charge(recent.stored),
        }
    }

    /// The bill: what was used, less what is included, less the discount for volume of what is left, and at least the minimum.
    #[must_use]
    pub fn bill(&self, prices: &Prices, included: &Included, minimum: Micros) -> Bill {
        let Self { attempts, tasks, fires, stored } = *self;
        let charges = attempts + tasks.charge + fires.charge + stored;
        let included = Micros(attempts.0.min(included.attempts))
            + tasks.included(included.tasks)
            + fires.included(included.fires);
        let left = charges - included;
        let volume = prices.volume_discount(left);
        let used = left - volume;
        let minimum = Micros((minimum - used).0.max(0));
        Bill { charges, included: -included, volume: -volume, minimum, total: used + minimum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prices() -> Prices {
        serde_json::from_value(json!({
            "effective_from": "2030-01-01T00:00:00Z", "volume": [{ "above": 1000, "percent": 50 }],
        }))
        .unwrap()
    }

    #[test]
    fn a_bill_takes_off_what_is_included_then_volume_and_reaches_the_minimum() {
        let tasks = Counted { pieces: 30, charge: Micros(107) };
        let month = Month { attempts: Micros(2000), tasks, ..Month::default() };
        let plain = month.bill(&prices(), &Included::default(), Micros(0));
        let wanted = Bill {
            charges: Micros(2107),
            volume: Micros(-554),
            total: Micros(1553),
            ..Bill::default()
        };
        assert_eq!(plain, wanted, "half of 1107 is 553.5, and even is 554");
        let bill =
            month.bill(&prices(), &Included { attempts: 1500, tasks: 10, fires: 0 }, Micros(600));
        // 10 of 30 tasks are 35.7 of 107.
        assert_eq!(
            (bill.included, bill.volume, bill.minimum),
            (Micros(-1536), Micros(0), Micros(29))
        );
        assert_eq!(bill.total, Micros(600));
        let parts = [bill.charges, bill.included, bill.volume, bill.minimum];
        assert_eq!(parts.into_iter().sum::<Micros>(), bill.total);
    }

    #[test]
    fn fires_are_included_by_their_share_and_stored_output_is_charged() {
        let fires = Counted { pieces: 40, charge: Micros(100) };
        let month = Month { fires, stored: Micros(900), ..Month::default() };
        let bill = month.bill(&prices(), &Included { fires: 10, ..Included::default() }, Micros(0));
        // A quarter of 100 is included; of 975 nothing is above 1000.
        assert_eq!(
            (bill.charges, bill.included, bill.total),
            (Micros(1000), Micros(-25), Micros(975))
        );
        let day = Duration::from_secs(86_400);
        let ahead = Month::default().forecast(&month, day * 10, day * 5);
        let half = Counted { pieces: 20, charge: Micros(50) };
        assert_eq!(ahead, Month { fires: half, stored: Micros(450), ..Month::default() });
    }

    #[test]
    fn more_than_was_used_is_not_included() {
        let month = Month { attempts: Micros(10), ..Month::default() };
        let included = Included { attempts: 1000, tasks: 1000, fires: 1000 };
        let bill = month.bill(&prices(), &included, Micros(0));
        assert_eq!((bill.included, bill.total), (Micros(-10), Micros(0)));
        assert_eq!(Month::default().bill(&prices(), &included, Micros(0)), Bill::default());
    }

    #[test]
    fn a_forecast_goes_on_as_lately() {
        let month = |attempts, pieces| Month {
            attempts: Micros(attempts),
            tasks: Counted { pieces, charge: Micros(0) },
            ..Month::default()
        };
        let day = Duration::from_secs(86_400);
        assert_eq!(month(100, 5).forecast(&month(70, 14), day * 7, day * 3), month(130, 11));
        assert_eq!(month(100, 5).forecast(&month(70, 14), day * 7, Duration::ZERO), month(100, 5));
        assert_eq!(month(1, 0).forecast(&Month::default(), Duration::ZERO, day), month(1, 0));
    }

    #[test]
    fn billing_says_what_is_wrong_by_pointer() {
        let of = |value| serde_json::from_value::<Billing>(value).unwrap();
        assert_eq!(of(json!({ "price_book": "eur" })).problems(), []);
        let wrong = of(json!({ "price_book": "eur", "minimum": -1,
            "included": { "attempts": MOST_MONTH + 1, "tasks": MOST_TASKS + 1, "fires": MOST_TASKS + 1 } }));
        let pointers: Vec<_> = wrong.problems().into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(
            pointers,
            ["/included/attempts", "/minimum", "/included/tasks", "/included/fires"]
        );
    }
}
