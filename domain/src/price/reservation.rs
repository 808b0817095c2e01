//! What a task may cost at most, and the prices that hold for it from when it was accepted.

use super::rounding::half_even;
use super::{Micros, PriceBook, Prices, Use};
use crate::id::PriceBookName;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The price of one task from an instant on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPrice {
    /// For attempts that are placed from then on: µs since 1970.
    from: i64,
    /// What a ms of an attempt costs, as a fraction of [`super::cost::WHOLE`]: a whole number, as text.
    #[serde(with = "number")]
    rate: u128,
    /// The task itself, and the fire that made it, micro-units.
    task: i64,
    /// Of that, the fire; where one made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fire: Option<i64>,
}

/// What is to be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskToPrice {
    /// What each of its attempts holds, for as long as one may run.
    pub most: Use,
    /// So many attempts it has at most.
    pub attempts: u32,
    /// Whether a fire makes it, or the run begins with it that a fire starts.
    pub is_fired: bool,
}

/// JSON of any program holds it: as text.
mod number {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u128, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u128, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

/// What an accepted task reserves of the spend caps that hold for it.
///
/// It has the prices that were known when it was accepted, those with a later date as well: prices that are added afterwards do not change
/// what it costs, so a cap also holds when prices rise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The caps.
    pub caps: Vec<Uuid>,
    /// Micro-units: the most that the task can cost.
    pub amount: Micros,
    /// Whose prices they are; `None`: its tenant's plan has none, and it costs nothing.
    pub book: Option<PriceBookName>,
    /// Ascending by when they hold.
    pub prices: Vec<TaskPrice>,
}

impl TaskPrice {
    fn of(prices: &Prices, task: &TaskToPrice) -> Self {
        let fire = prices.fire_cost(1, task.is_fired).0;
        Self {
            from: prices.effective_from.timestamp_micros(),
            rate: prices.ms_rate(&task.most),
            task: prices.each.task.saturating_add(fire),
            fire: task.is_fired.then_some(fire),
        }
    }

    fn cost(&self, ms: u64) -> Micros {
        half_even(self.rate.saturating_mul(ms.into()), super::cost::WHOLE)
    }
}

impl Reservation {
    /// For a task that is accepted at `now` under `caps`. `book`: what its tenant's plan is billed by.
    #[must_use]
    pub fn of(
        caps: Vec<Uuid>,
        book: Option<(&PriceBookName, &PriceBook)>,
        now: Timestamp,
        task: &TaskToPrice,
    ) -> Self {
        let known = book.map_or(&[][..], |(_, book)| book.known_at(now));
        let prices: Vec<_> = known.iter().map(|of| TaskPrice::of(of, task)).collect();
        let attempt = prices.iter().map(|price| price.cost(task.most.ms).0).max().unwrap_or(0);
        let once = prices.iter().map(|price| price.task).max().unwrap_or(0);
        let amount = Micros(attempt.saturating_mul(task.attempts.into()).saturating_add(once));
        Self { caps, amount, book: book.map(|(name, _)| name.clone()), prices }
    }

    /// The same where its task has cost so much already.
    #[must_use]
    pub fn with(self, spent: Micros) -> Self {
        Self { amount: self.amount + spent, ..self }
    }

    /// The same prices, of no cap.
    #[must_use]
    pub fn of_no_cap(&self) -> Self {
        Self { caps: Vec::new(), ..self.clone() }
    }

    fn price_at(&self, placed_at: Timestamp) -> Option<&TaskPrice> {
        let placed_at = placed_at.timestamp_micros();
        self.prices.iter().rev().find(|price| price.from <= placed_at)
    }

    /// What an attempt costs that was placed then and is billed for `ms`.
    #[must_use]
    pub fn cost(&self, placed_at: Timestamp, ms: u64) -> Micros {
        self.price_at(placed_at).map_or(Micros(0), |price| price.cost(ms))
    }

    /// What the task and its fire cost for themselves, whose first attempt was placed then.
    #[must_use]
    pub fn task_cost(&self, placed_at: Timestamp) -> Micros {
        Micros(self.price_at(placed_at).map_or(0, |price| price.task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Tier;
    use crate::time::parse_time;
    use proptest::prelude::*;
    use serde_json::json;

    fn day(day: u32) -> Timestamp {
        parse_time(&format!("2030-01-{day:02}T00:00:00Z")).unwrap()
    }

    /// One core costs `rates` an hour from the 1st, the 11th and the 21st on, and each task 5.
    fn book(rates: [i64; 3]) -> PriceBook {
        let price = |(day, rate)| json!({ "effective_from": format!("2030-01-{day}T00:00:00Z"), "rates": { "cpu_core": rate }, "each": { "task": 5 } });
        let prices: Vec<_> = ["01", "11", "21"].into_iter().zip(rates).map(price).collect();
        serde_json::from_value(json!({ "currency": "EUR", "prices": prices })).unwrap()
    }

    fn hour() -> Use {
        let (resources, ms) = (Tier::Regular.resources(), 3_600_000);
        Use { resources, tier: Some(Tier::Regular), ms, tolerance_s: Some(0), flexible: false }
    }

    fn hours(attempts: u32) -> TaskToPrice {
        TaskToPrice { most: hour(), attempts, is_fired: false }
    }

    #[test]
    fn it_is_for_the_dearest_of_the_prices_that_are_known_and_to_come() {
        let name: PriceBookName = "eur".parse().unwrap();
        let most = |rates, now| {
            let book = book(rates);
            Reservation::of(Vec::new(), Some((&name, &book)), day(now), &hours(3)).amount.0
        };
        assert_eq!(most([100, 300, 200], 2), 905);
        assert_eq!(most([100, 300, 200], 12), 905);
        assert_eq!(most([100, 300, 200], 22), 605);
        assert_eq!(most([900, 300, 200], 22), 605);
        let none = Reservation::of(Vec::new(), None, day(2), &hours(3));
        assert_eq!((none.amount.0, none.cost(day(3), 1000).0), (0, 0));
    }

    #[test]
    fn a_fire_is_reserved_with_the_task_that_it_makes() {
        let name: PriceBookName = "eur".parse().unwrap();
        let mut book = book([100, 300, 200]);
        book.prices.iter_mut().for_each(|prices| prices.each.fire = 11);
        let of = |is_fired| {
            let task = TaskToPrice { is_fired, ..hours(3) };
            Reservation::of(Vec::new(), Some((&name, &book)), day(2), &task)
        };
        assert_eq!((of(false).amount.0, of(true).amount.0), (905, 916));
        assert_eq!(of(true).task_cost(day(2)).0, 16);
        let (plain, fired) = [false, true].map(|is| serde_json::to_string(&of(is)).unwrap()).into();
        assert!(!plain.contains("fire") && fired.contains(r#""fire":11"#), "{plain} {fired}");
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let name: PriceBookName = "eur".parse().unwrap();
        let caps = vec![Uuid::from_u128(7)];
        let book = book([100, 300, super::super::MOST_RATE]);
        let reservation = Reservation::of(caps, Some((&name, &book)), day(2), &hours(3));
        let text = serde_json::to_string(&reservation).unwrap();
        assert_eq!(serde_json::from_str::<Reservation>(&text).unwrap(), reservation);
        assert!(text.contains(r#""rate":"128000000000"#), "{text}");
    }

    proptest! {
        /// Whenever its attempts are placed, and however short they are, the task never costs more, and costs what the book says.
        #[test]
        fn no_task_costs_more_than_it_reserved(rates in [0..=10_000_000_i64, 0..=10_000_000, 0..=10_000_000], now in 1..=28_u32,
            attempts in proptest::collection::vec((0..=30_u32, 0..=3_600_000_u64), 1..=5)) {
            let (name, book): (PriceBookName, _) = ("eur".parse().unwrap(), book(rates));
            let count = u32::try_from(attempts.len()).unwrap();
            let reservation = Reservation::of(Vec::new(), Some((&name, &book)), day(now), &hours(count));
            let mut cost = 0;
            for (place, (after, ms)) in attempts.iter().enumerate() {
                let placed_at = day(now) + chrono::TimeDelta::days((*after).into());
                let prices = book.at(placed_at).unwrap();
                prop_assert_eq!(reservation.cost(placed_at, *ms), prices.cost(&Use { ms: *ms, ..hour() }));
                cost += reservation.cost(placed_at, *ms).0;
                if place == 0 {
                    prop_assert_eq!(reservation.task_cost(placed_at), prices.task_cost(1));
                    cost += reservation.task_cost(placed_at).0;
                }
            }
            prop_assert!(cost <= reservation.amount.0);
        }
    }
}
