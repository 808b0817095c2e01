//! What tasks would cost that are not sent yet: the most, part by part; what is likely; and what they would cost with more patience.
//!
//! The most is what such a task reserves of spend caps: it is computed by [`Reservation`] and nowhere else.

use super::{CostParts, Micros, PriceBook, Prices, Reservation, TaskToPrice, Use};
use crate::id::PriceBookName;
use crate::time::Timestamp;
use std::collections::BTreeSet;

/// Whose prices, and as of when.
type Book<'a> = (&'a PriceBookName, &'a PriceBook);

/// What a task would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskQuote {
    /// When the prices begin to hold by which an attempt costs the most.
    pub effective_from: Timestamp,
    /// What an attempt costs that runs for the whole execution cap, part by part.
    pub parts: CostParts,
    /// The same, in one sum.
    pub attempt: Micros,
    /// The task itself, once.
    pub task: Micros,
    /// The fire that makes it, once.
    pub fire: Micros,
    /// The most that it can cost: what it would reserve.
    pub most: Micros,
}

impl TaskQuote {
    /// Of a task that would be accepted at `now`. `None`: the book has no prices.
    #[must_use]
    pub fn of(book: Book<'_>, now: Timestamp, task: &TaskToPrice) -> Option<Self> {
        let known = book.1.known_at(now);
        // Of equal ones the first.
        let dearest = known.iter().rev().max_by_key(|prices| prices.cost(&task.most))?;
        let once = |prices: &Prices| (prices.task_cost(1), prices.fire_cost(1, task.is_fired));
        let (own, fire) = known.iter().map(once).max_by_key(|(own, fire)| *own + *fire)?;
        let most = Reservation::of(Vec::new(), Some(book), now, task).amount;
        Some(Self {
            effective_from: dearest.effective_from,
            parts: dearest.parts(&task.most),
            attempt: dearest.cost(&task.most),
            task: own,
            fire,
            most,
        })
    }

    /// What such a task costs whose attempts use this together, at the prices of `now`, or the first ones.
    #[must_use]
    pub fn likely(&self, book: &PriceBook, now: Timestamp, used: &TaskToPrice) -> Micros {
        let prices = book.known_at(now).first();
        let once = |prices: &Prices| prices.task_cost(1) + prices.fire_cost(1, used.is_fired);
        let cost = |prices: &Prices| prices.cost(&used.most) + once(prices);
        prices.map_or(Micros(0), cost).min(self.most)
    }
}

/// So many tasks that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricedTasks {
    /// Each of them.
    pub task: TaskToPrice,
    /// How many tasks there are.
    pub tasks: u64,
}

/// What the same tasks would cost with more patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cheaper {
    /// With this delay tolerance, in seconds, where they have a shorter one; `None`: with their own.
    pub tolerance_s: Option<u64>,
    /// As flexible tasks.
    pub flexible: bool,
    /// The most that they could cost then.
    pub most: Micros,
    /// Less than now by this, above 0.
    pub saving: Micros,
    /// The same in hundredths of a percent of now, rounded down.
    pub basis_points: u32,
}

/// What would be cheaper than `tasks`: with each delay tolerance that some price has a discount for, up to `most_tolerance_s`, and as
/// flexible tasks.
#[must_use]
pub fn cheaper(
    book: Book<'_>,
    now: Timestamp,
    tasks: &[PricedTasks],
    most_tolerance_s: u64,
) -> Vec<Cheaper> {
    let most = |change: &dyn Fn(Use) -> Use| -> Micros {
        let one = |of: &PricedTasks| {
            let task = TaskToPrice { most: change(of.task.most), ..of.task };
            Reservation::of(Vec::new(), Some(book), now, &task).amount * of.tasks
        };
        tasks.iter().map(one).sum()
    };
    let before = most(&|what| what);
    let option = |tolerance_s: Option<u64>, flexible: bool, after: Micros| {
        let saving = before - after;
        let basis_points = i128::from(saving.0) * 10_000 / i128::from(before.0.max(1));
        let basis_points = u32::try_from(basis_points).unwrap_or(0);
        (saving.0 > 0).then_some(Cheaper {
            tolerance_s,
            flexible,
            most: after,
            saving,
            basis_points,
        })
    };
    let known = book.1.known_at(now);
    let bands = known.iter().flat_map(|prices| &prices.discounts.tolerance);
    let bands: BTreeSet<u64> = bands.map(|band| band.at_least_s).collect();
    let with_tolerance =
        bands.into_iter().filter(|band| *band <= most_tolerance_s).filter_map(|band| {
            let longer =
                |what: Use| Use { tolerance_s: what.tolerance_s.map(|own| own.max(band)), ..what };
            option(Some(band), false, most(&longer))
        });
    let flexible = most(&|what| Use { flexible: true, ..what });
    with_tolerance.chain(option(None, true, flexible)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{Resources, Tier};
    use crate::time::parse_time;
    use proptest::prelude::*;
    use serde_json::json;

    fn day(day: u32) -> Timestamp {
        parse_time(&format!("2030-01-{day:02}T00:00:00Z")).unwrap()
    }

    fn book() -> PriceBook {
        serde_json::from_value(json!({ "currency": "EUR", "prices": [
            { "effective_from": "2030-01-01T00:00:00Z", "each": { "task": 7 },
              "rates": { "cpu_core": 40_000, "memory_gib": 5_000, "disk_gib": 101, "thousand_iops": 1_000, "port": 10 },
              "discounts": { "flexible_percent": 30,
                "tolerance": [{ "at_least_s": 3600, "percent": 20 }, { "at_least_s": 86_400, "percent": 40 }] } },
            { "effective_from": "2030-01-11T00:00:00Z", "each": { "task": 5 }, "rates": { "cpu_core": 41_000, "memory_gib": 5_000 },
              "discounts": { "tolerance": [{ "at_least_s": 7200, "percent": 50 }] } },
        ] }))
        .unwrap()
    }

    fn hour(tolerance_s: u64, flexible: bool) -> Use {
        Use {
            resources: Resources { cpu_millis: 1000, memory_mib: 2048, ..Resources::default() },
            tier: Some(Tier::Regular),
            ms: 3_600_000,
            tolerance_s: Some(tolerance_s),
            flexible,
        }
    }

    fn task(most: Use, attempts: u32) -> TaskToPrice {
        TaskToPrice { most, attempts, is_fired: false }
    }

    /// A core and 2 GiB for an hour: 50 000, and with 20 % and 30 % off 28 000. From the 11th on 51 000.
    #[test]
    fn a_quote_has_the_dearest_known_prices_and_its_parts_add_up() {
        let (name, book): (PriceBookName, _) = ("eur".parse().unwrap(), book());
        let of = |at, what: Use| TaskQuote::of((&name, &book), day(at), &task(what, 3)).unwrap();
        let late = of(12, hour(3600, true));
        assert_eq!((late.attempt.0, late.task.0, late.most.0), (51_000, 5, 153_005));
        let early = of(2, hour(3600, true));
        assert_eq!((early.attempt.0, early.task.0, early.most.0), (51_000, 7, 153_007));
        assert_eq!(early.effective_from, day(11));
        let only = PriceBook { prices: book.prices[..1].to_vec(), ..book.clone() };
        let quote = TaskQuote::of((&name, &only), day(2), &task(hour(3600, true), 2)).unwrap();
        assert_eq!((quote.attempt.0, quote.most.0), (28_000, 56_007));
        let CostParts { cpu, memory, tolerance_discount, flexible_discount, .. } = quote.parts;
        assert_eq!((cpu.0, memory.0), (40_000, 10_000));
        assert_eq!((tolerance_discount.0, flexible_discount.0), (-10_000, -12_000));
        let empty = PriceBook { prices: Vec::new(), ..book };
        assert_eq!(TaskQuote::of((&name, &empty), day(2), &task(hour(0, false), 1)), None);
    }

    #[test]
    fn what_is_likely_is_at_the_prices_of_now_and_never_above_the_most() {
        let (name, book): (PriceBookName, _) = ("eur".parse().unwrap(), book());
        let what = hour(0, false);
        let quote = TaskQuote::of((&name, &book), day(2), &task(what, 1)).unwrap();
        let likely = |ms| quote.likely(&book, day(2), &task(Use { ms, ..what }, 1)).0;
        assert_eq!(likely(0), 7);
        assert_eq!(likely(1_800_000), 25_007);
        assert_eq!(likely(36_000_000), quote.most.0);
    }

    #[test]
    fn more_patience_is_offered_where_it_saves_and_may_be_asked_for() {
        let (name, book): (PriceBookName, _) = ("eur".parse().unwrap(), book());
        let book = PriceBook { prices: book.prices[..1].to_vec(), ..book };
        let line = |tolerance_s, flexible, tasks| PricedTasks {
            task: task(hour(tolerance_s, flexible), 1),
            tasks,
        };
        let offered = |tasks: &[PricedTasks], most| {
            let of =
                |o: &Cheaper| (o.tolerance_s, o.flexible, o.most.0, o.saving.0, o.basis_points);
            cheaper((&name, &book), day(2), tasks, most).iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(
            offered(&[line(60, false, 2)], u64::MAX),
            [
                (Some(3600), false, 80_014, 20_000, 1999),
                (Some(86_400), false, 60_014, 40_000, 3999),
                (None, true, 70_014, 30_000, 2999),
            ]
        );
        assert_eq!(offered(&[line(60, true, 1)], 7200), [(Some(3600), false, 28_007, 7_000, 1999)]);
        assert_eq!(offered(&[line(86_400, true, 1)], u64::MAX), []);
        assert_eq!(offered(&[line(60, false, 0)], u64::MAX), []);
        // Those that are patient already stay as they are.
        let both = [line(60, false, 1), line(86_400, false, 1)];
        assert_eq!(offered(&both, 3600)[0], (Some(3600), false, 70_014, 10_000, 1249));
    }

    proptest! {
        #[test]
        fn parts_add_up_and_the_most_is_the_reservation(rates in proptest::array::uniform5(0..=10_000_000_i64),
            held in proptest::array::uniform5(0..=100_000_u32), ms in 1..=86_400_000_u64, tolerance_s in 0..=100_000_u64,
            (percents, flexible, attempts, now) in ((0..=100_u8, 0..=100_u8), any::<bool>(), 1..=9_u32, 1..=20_u32)) {
            let [cpu_core, memory_gib, disk_gib, thousand_iops, port] = rates;
            let book: PriceBook = serde_json::from_value(json!({ "currency": "EUR", "prices": [
                { "effective_from": "2030-01-01T00:00:00Z", "each": { "task": rates[0] % 97, "fire": rates[2] % 89 },
                  "rates": { "cpu_core": cpu_core, "memory_gib": memory_gib, "disk_gib": disk_gib,
                    "thousand_iops": thousand_iops, "port": port },
                  "discounts": { "flexible_percent": percents.0, "tolerance": [{ "at_least_s": 3600, "percent": percents.1 }] } },
                { "effective_from": "2030-01-11T00:00:00Z", "each": { "task": rates[1] % 97, "fire": rates[3] % 89 }, "rates": { "port": cpu_core } },
            ] })).unwrap();
            let what = Use { resources: Resources::from_dimensions(held), tier: None, ms, tolerance_s: Some(tolerance_s), flexible };
            let name: PriceBookName = "eur".parse().unwrap();
            let quote = TaskQuote::of((&name, &book), day(now), &task(what, attempts)).unwrap();
            prop_assert_eq!(quote.parts.sum(), quote.attempt);
            prop_assert_eq!(quote.attempt * u64::from(attempts) + quote.task, quote.most);
            let fired = TaskToPrice { is_fired: true, ..task(what, attempts) };
            let of_fire = TaskQuote::of((&name, &book), day(now), &fired).unwrap();
            prop_assert_eq!(of_fire.attempt * u64::from(attempts) + of_fire.task + of_fire.fire, of_fire.most);
            let reserved = Reservation::of(Vec::new(), Some((&name, &book)), day(now), &task(what, attempts));
            prop_assert_eq!(reserved.amount, quote.most);
        }
    }
}
