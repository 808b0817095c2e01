//! What a month comes to.

use super::rounding::share;
use super::{Micros, PriceBook};
use serde::{Deserialize, Serialize};

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
    /// Tasks that were accepted.
    pub tasks: Counted,
    /// Fires.
    pub fires: Counted,
    /// Events that were delivered.
    pub events: Counted,
    /// What was stored.
    pub stored: Micros,
}

/// What a plan includes in each month, and the least that a month costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allowance {
    /// Cost of attempts, micro-units.
    pub attempts: i64,
    /// Tasks.
    pub tasks: u64,
    /// Fires.
    pub fires: u64,
    /// Events.
    pub events: u64,
    /// The least that a month comes to, micro-units.
    pub minimum: i64,
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

impl Counted {
    /// What the first `included` pieces were charged: of pieces with different prices their share of all.
    fn included(self, included: u64) -> Micros {
        share(self.charge, included, self.pieces)
    }
}

impl Month {
    /// The bill: what was used, less what is included, less the discount for volume of what is left, and at least the minimum.
    #[must_use]
    pub fn bill(&self, book: &PriceBook, allowance: &Allowance) -> Bill {
        let Self { attempts, tasks, fires, events, stored } = *self;
        let charges =
            [attempts, tasks.charge, fires.charge, events.charge, stored].into_iter().sum();
        let included = Micros(attempts.0.min(allowance.attempts))
            + tasks.included(allowance.tasks)
            + fires.included(allowance.fires)
            + events.included(allowance.events);
        let left = charges - included;
        let volume = book.volume_discount(left);
        let used = left - volume;
        let minimum = Micros((Micros(allowance.minimum) - used).0.max(0));
        Bill { charges, included: -included, volume: -volume, minimum, total: used + minimum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn book() -> PriceBook {
        serde_json::from_value(json!({
            "currency": "EUR", "rates": {}, "volume": [{ "above": 1000, "percent": 50 }],
        }))
        .unwrap()
    }

    #[test]
    fn a_bill_takes_off_what_is_included_then_volume_and_reaches_the_minimum() {
        let month = Month {
            attempts: Micros(2000),
            tasks: Counted { pieces: 30, charge: Micros(100) },
            stored: Micros(7),
            ..Month::default()
        };
        let plain = month.bill(&book(), &Allowance::default());
        let wanted = Bill {
            charges: Micros(2107),
            volume: Micros(-554),
            total: Micros(1553),
            ..Bill::default()
        };
        assert_eq!(plain, wanted, "half of 1107 is 553.5, and even is 554");
        let allowance =
            Allowance { attempts: 1500, tasks: 10, minimum: 600, ..Allowance::default() };
        let bill = month.bill(&book(), &allowance);
        // 10 of 30 tasks are 33.3 of 100.
        assert_eq!(
            (bill.included, bill.volume, bill.minimum),
            (Micros(-1533), Micros(0), Micros(26))
        );
        assert_eq!(bill.total, Micros(600));
        let parts = [bill.charges, bill.included, bill.volume, bill.minimum];
        assert_eq!(parts.into_iter().sum::<Micros>(), bill.total);
    }

    #[test]
    fn more_than_was_used_is_not_included() {
        let month = Month { attempts: Micros(10), ..Month::default() };
        let allowance = Allowance { attempts: 1000, tasks: 1000, ..Allowance::default() };
        let bill = month.bill(&book(), &allowance);
        assert_eq!((bill.included, bill.total), (Micros(-10), Micros(0)));
        assert_eq!(Month::default().bill(&book(), &allowance), Bill::default());
    }
}
