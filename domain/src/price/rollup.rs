//! What ended, added up by quarter of an hour, with its cost.

use super::cost::{HOUR_MS, SHARED};
use super::rounding::half_even;
use super::{Each, Micros, PriceHistory, Prices, Use};
use crate::id::{PriceBookName, TenantId};
use crate::resources::Resources;
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// Values of a label that are kept apart in a quarter of an hour; all others are one row.
pub const MOST_VALUES: usize = 100;

/// Seconds of a quarter of an hour. Time zones begin their days and hours at quarters.
pub const QUARTER_S: i64 = 900;

/// An attempt that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAttempt {
    /// Whose.
    pub tenant: TenantId,
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is billed.
    pub charged: bool,
    /// When it was placed: which prices hold.
    pub placed_at: Timestamp,
    /// When it ended: in which quarter it counts.
    pub ended_at: Timestamp,
    /// What it used.
    pub used: Use,
    /// The schedule that made its task, or started its run.
    pub schedule: Option<String>,
    /// The workflow whose run its task is of.
    pub workflow: Option<String>,
    /// Labels of its task.
    pub labels: BTreeMap<String, String>,
    /// Whether a fire made its task, or its task is the one of a fired run that bears the fire's price.
    pub is_fired: bool,
    /// Where its task has a [`super::Reservation`]: what it costs by that, in place of the prices that held.
    pub reserved: Option<ReservedCost>,
}

/// What an attempt costs by its task's reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedCost {
    /// Whose prices; `None`: none held.
    pub book: Option<PriceBookName>,
    /// The attempt.
    pub attempt: Micros,
    /// The task, with its first attempt.
    pub task: Micros,
    /// The fire, with the same.
    pub fire: Micros,
}

/// Output that was stored for a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredDay {
    /// Whose.
    pub tenant: TenantId,
    /// The day's last instant: which prices hold, and in which quarter it counts.
    pub at: Timestamp,
    /// Bytes.
    pub bytes: u64,
}

/// By what attempts are added up. Of each kind, each attempt is in one row, and of labels in one for each key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// By tier; empty: of tasks that gave resources.
    Tier(String),
    /// By schedule; empty: without one.
    Schedule(String),
    /// By workflow; empty: without one.
    Workflow(String),
    /// By the value of a label.
    Label {
        /// Its key.
        key: String,
        /// Its value; `None`: one of those that are not kept apart.
        value: Option<String>,
    },
}

/// Which row of the roll-up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RollupKey {
    /// Whose.
    pub tenant: TenantId,
    /// By what.
    pub part: Part,
    /// The quarter of an hour in which attempts ended, by its beginning.
    pub starts_at: Timestamp,
    /// By whose prices; `None`: none held.
    pub price_book: Option<PriceBookName>,
}

/// Sums over attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Attempts.
    pub attempts: i64,
    /// Those that are billed.
    pub charged_attempts: i64,
    /// First attempts.
    pub tasks: i64,
    /// Fires of schedules whose task, or whose run's first one, had its first attempt.
    pub fires: i64,
    /// Billed time, ms.
    pub run_ms: i64,
    /// Millicores x ms.
    pub cpu_millis_ms: i64,
    /// MiB x ms.
    pub memory_mib_ms: i64,
    /// MiB x ms.
    pub disk_mib_ms: i64,
    /// Operations a second x ms.
    pub iops_ms: i64,
    /// Ports x ms.
    pub port_ms: i64,
    /// Bytes of stored output x days.
    pub stored_byte_days: i64,
    /// What the attempts cost.
    pub attempts_cost: Micros,
    /// What their tasks cost, each with its first attempt.
    pub tasks_cost: Micros,
    /// What the fires cost.
    pub fires_cost: Micros,
    /// What the stored output costs.
    pub stored_cost: Micros,
}

impl Amounts {
    /// All that it costs.
    #[must_use]
    pub fn cost(&self) -> Micros {
        self.attempts_cost + self.tasks_cost + self.fires_cost + self.stored_cost
    }

    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.attempts, other.attempts),
            (&mut self.charged_attempts, other.charged_attempts),
            (&mut self.tasks, other.tasks),
            (&mut self.fires, other.fires),
            (&mut self.run_ms, other.run_ms),
            (&mut self.cpu_millis_ms, other.cpu_millis_ms),
            (&mut self.memory_mib_ms, other.memory_mib_ms),
            (&mut self.disk_mib_ms, other.disk_mib_ms),
            (&mut self.iops_ms, other.iops_ms),
            (&mut self.port_ms, other.port_ms),
            (&mut self.stored_byte_days, other.stored_byte_days),
        ];
        for (sum, amount) in sums {
            *sum = sum.saturating_add(amount);
        }
        self.attempts_cost = self.attempts_cost + other.attempts_cost;
        self.tasks_cost = self.tasks_cost + other.tasks_cost;
        self.fires_cost = self.fires_cost + other.fires_cost;
        self.stored_cost = self.stored_cost + other.stored_cost;
    }

    /// What these sums cost by the rates and prices of tasks, without tiers, discounts and volume: what a platform pays for its machines
    /// is such a price.
    #[must_use]
    pub fn cost_by(&self, prices: &Prices) -> Micros {
        let rates = &prices.rates;
        let parts = [
            (rates.cpu_core, self.cpu_millis_ms, SHARED / 1000),
            (rates.memory_gib, self.memory_mib_ms, SHARED / 1024),
            (rates.disk_gib, self.disk_mib_ms, SHARED / 1024),
            (rates.thousand_iops, self.iops_ms, SHARED / 1000),
            (rates.port, self.port_ms, SHARED),
        ];
        let whole = |number: i64| u128::from(number.max(0).unsigned_abs());
        let of = |(rate, sum, scale): (i64, i64, u128)| whole(rate) * whole(sum) * scale;
        let attempts = half_even(parts.into_iter().map(of).sum(), SHARED * HOUR_MS);
        let Each { task, fire, .. } = prices.each;
        let each = task.saturating_mul(self.tasks).saturating_add(fire.saturating_mul(self.fires));
        let stored = prices.stored_day_cost(self.stored_byte_days.max(0).unsigned_abs());
        attempts + Micros(each) + stored
    }

    fn of(attempt: &EndedAttempt) -> Self {
        let EndedAttempt { number, charged, used, is_fired, .. } = attempt;
        let ms = i64::try_from(used.ms).unwrap_or(i64::MAX);
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = used.resources;
        let times = |amount: u32| ms.saturating_mul(amount.into());
        Self {
            attempts: 1,
            charged_attempts: i64::from(*charged),
            tasks: i64::from(*number == 1),
            fires: i64::from(*number == 1 && *is_fired),
            run_ms: ms,
            cpu_millis_ms: times(cpu_millis),
            memory_mib_ms: times(memory_mib),
            disk_mib_ms: times(disk_mib),
            iops_ms: times(iops),
            port_ms: times(ports),
            ..Self::default()
        }
    }
}

/// The quarter of an hour of an instant, by its beginning.
#[must_use]
pub fn quarter(at: Timestamp) -> Timestamp {
    let begins = at.timestamp().div_euclid(QUARTER_S) * QUARTER_S;
    Timestamp::from_timestamp(begins, 0).unwrap_or(at)
}

/// Attempts, added up.
#[derive(Debug, Clone, Default)]
pub struct Rollup {
    rows: BTreeMap<RollupKey, Amounts>,
}

impl Rollup {
    /// Adds an attempt, at the price that held when it was placed, or that its task reserved.
    pub fn add(&mut self, history: &PriceHistory, attempt: EndedAttempt) {
        let mut amounts = Amounts::of(&attempt);
        let price_book = if let Some(reserved) = &attempt.reserved {
            amounts.attempts_cost = reserved.attempt;
            amounts.tasks_cost = reserved.task;
            amounts.fires_cost = reserved.fire;
            reserved.book.clone()
        } else if let Some((name, prices)) = history.prices(attempt.tenant, attempt.placed_at) {
            amounts.attempts_cost = prices.cost(&attempt.used);
            amounts.tasks_cost = prices.task_cost(attempt.number);
            amounts.fires_cost = prices.fire_cost(attempt.number, attempt.is_fired);
            Some(name.clone())
        } else {
            None
        };
        let (tenant, starts_at) = (attempt.tenant, quarter(attempt.ended_at));
        let tier = attempt.used.tier.map(|tier| tier.to_string());
        let labels = attempt.labels.into_iter();
        let parts = [
            Part::Tier(tier.unwrap_or_default()),
            Part::Schedule(attempt.schedule.unwrap_or_default()),
            Part::Workflow(attempt.workflow.unwrap_or_default()),
        ]
        .into_iter()
        .chain(labels.map(|(key, value)| Part::Label { key, value: Some(value) }));
        for part in parts {
            let key = RollupKey { tenant, part, starts_at, price_book: price_book.clone() };
            self.rows.entry(key).or_default().add(&amounts);
        }
    }

    /// Adds what was stored on a day, at the price that held when it ended.
    pub fn add_stored(&mut self, history: &PriceHistory, stored: StoredDay) {
        let StoredDay { tenant, at, bytes } = stored;
        let prices = history.prices(tenant, at);
        let amounts = Amounts {
            stored_byte_days: i64::try_from(bytes).unwrap_or(i64::MAX),
            stored_cost: prices.map_or(Micros(0), |(_, prices)| prices.stored_day_cost(bytes)),
            ..Amounts::default()
        };
        let none = String::new;
        for part in [Part::Tier(none()), Part::Schedule(none()), Part::Workflow(none())] {
            let price_book = prices.map(|(name, _)| name.clone());
            let key = RollupKey { tenant, part, starts_at: quarter(at), price_book };
            self.rows.entry(key).or_default().add(&amounts);
        }
    }

    /// The rows, in the order of their keys.
    #[must_use]
    pub fn rows(self) -> BTreeMap<RollupKey, Amounts> {
        self.rows
    }

    /// The rows so far, in the order of their keys.
    pub fn so_far(&self) -> impl Iterator<Item = (&RollupKey, &Amounts)> {
        self.rows.iter()
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Tier;
    use crate::time::parse_time;
    use serde_json::json;

    fn time(text: &str) -> Timestamp {
        parse_time(text).unwrap()
    }

    /// A tenant on a plan with prices from 10:00 on, which double at 12:00: a basic task 1000 an hour and 7 a task.
    fn history(tenant: TenantId) -> PriceHistory {
        let of = |from, port| json!({ "effective_from": from, "rates": { "port": port }, "each": { "task": 7, "fire": 3, "stored_gib_month": 60 } });
        let prices = [of("2030-01-01T10:00:00Z", 1000), of("2030-01-01T12:00:00Z", 2000)];
        let book = json!({ "currency": "EUR", "prices": prices });
        let mut history = PriceHistory::default();
        history.book("eur".parse().unwrap(), serde_json::from_value(book).unwrap());
        let billing = serde_json::from_value(json!({ "price_book": "eur" })).unwrap();
        let plan: crate::id::PlanName = "team".parse().unwrap();
        history.plan(plan.clone(), time("2030-01-01T00:00:00Z"), Some(billing));
        history.tenant(tenant, time("2030-01-01T00:00:00Z"), plan);
        history
    }

    fn attempt(
        tenant: TenantId,
        number: u32,
        (placed, ended): (&str, &str),
        ms: u64,
    ) -> EndedAttempt {
        let resources = Tier::Basic.resources();
        EndedAttempt {
            tenant,
            number,
            charged: ms > 0,
            placed_at: time(&format!("2030-01-01T{placed}Z")),
            ended_at: time(&format!("2030-01-01T{ended}Z")),
            used: Use {
                resources,
                tier: Some(Tier::Basic),
                ms,
                tolerance_s: Some(0),
                flexible: false,
            },
            schedule: None,
            workflow: None,
            is_fired: false,
            reserved: None,
            labels: BTreeMap::new(),
        }
    }

    #[test]
    fn an_attempt_has_the_price_of_its_placement_and_the_quarter_of_its_end() {
        let tenant = TenantId::fresh();
        let history = history(tenant);
        let mut rollup = Rollup::default();
        let hour = 3_600_000;
        for (number, span, ms) in [
            (1, ("09:59:59.999999", "10:14:59.999999"), hour),
            (1, ("10:00:00", "10:15:00"), hour),
            // The price changes while it runs.
            (1, ("11:59:59.999999", "12:29:00"), hour),
            (2, ("12:00:00", "12:29:00"), hour),
            (3, ("12:00:00", "12:29:00"), 0),
        ] {
            rollup.add(&history, attempt(tenant, number, span, ms));
        }
        let rows = rollup.rows();
        let of_tier = |(key, amounts): (&RollupKey, &Amounts)| match &key.part {
            Part::Tier(tier) => Some((
                tier.clone(),
                key.starts_at.format("%H:%M").to_string(),
                key.price_book.is_some(),
                [
                    amounts.attempts,
                    amounts.charged_attempts,
                    amounts.tasks,
                    amounts.attempts_cost.0,
                    amounts.tasks_cost.0,
                ],
            )),
            _ => None,
        };
        let row = |at: &str, priced, amounts| ("basic".to_owned(), at.to_owned(), priced, amounts);
        assert_eq!(
            rows.iter().filter_map(of_tier).collect::<Vec<_>>(),
            [
                row("10:00", false, [1, 1, 1, 0, 0]),
                row("10:15", true, [1, 1, 1, 1000, 7]),
                row("12:15", true, [3, 2, 1, 3000, 7]),
            ]
        );
        assert_eq!(rows.len(), 9, "by tier, schedule and workflow");
    }

    #[test]
    fn each_part_has_all_attempts_once() {
        let tenant = TenantId::fresh();
        let mut rollup = Rollup::default();
        for (label, schedule) in [("a", None), ("a", Some("nightly")), ("b", None)] {
            let labels = BTreeMap::from([("team".to_owned(), label.to_owned())]);
            let schedule = schedule.map(str::to_owned);
            let of = attempt(tenant, 1, ("10:00:00", "10:01:00"), 60_000);
            rollup.add(&PriceHistory::default(), EndedAttempt { labels, schedule, ..of });
        }
        let parts: Vec<_> =
            rollup.rows().into_iter().map(|(key, amounts)| (key.part, amounts.attempts)).collect();
        let label = |value: &str| Part::Label { key: "team".into(), value: Some(value.into()) };
        assert_eq!(
            parts,
            [
                (Part::Tier("basic".into()), 3),
                (Part::Schedule(String::new()), 2),
                (Part::Schedule("nightly".into()), 1),
                (Part::Workflow(String::new()), 3),
                (label("a"), 2),
                (label("b"), 1),
            ]
        );
    }

    #[test]
    fn a_fire_is_counted_with_the_first_attempt_that_it_led_to() {
        let tenant = TenantId::fresh();
        let history = history(tenant);
        let mut rollup = Rollup::default();
        let span = ("10:00:00", "10:15:00");
        for (number, is_fired, reserved) in
            [(1, true, None), (2, true, None), (1, false, None), (1, true, Some(11))]
        {
            let reserved = reserved.map(|fire| ReservedCost {
                book: Some("eur".parse().unwrap()),
                attempt: Micros(0),
                task: Micros(9),
                fire: Micros(fire),
            });
            rollup.add(
                &history,
                EndedAttempt { is_fired, reserved, ..attempt(tenant, number, span, 0) },
            );
        }
        for amounts in rollup.rows().into_values() {
            assert_eq!((amounts.fires, amounts.fires_cost, amounts.tasks), (2, Micros(14), 3));
            assert_eq!(amounts.cost(), Micros(14 + 7 + 7 + 9));
        }
    }

    #[test]
    fn what_is_stored_has_the_price_and_the_quarter_of_the_end_of_its_day() {
        let tenant = TenantId::fresh();
        let history = history(tenant);
        let mut rollup = Rollup::default();
        for day in ["2029-12-31", "2030-01-01"] {
            let at = time(&format!("{day}T23:59:59.999999Z"));
            rollup.add_stored(&history, StoredDay { tenant, at, bytes: 3 << 29 });
        }
        let rows = rollup.rows();
        let shown = |(key, amounts): (&RollupKey, &Amounts)| {
            (
                key.starts_at,
                key.price_book.is_some(),
                amounts.stored_byte_days,
                amounts.stored_cost.0,
            )
        };
        let of_tier = rows.iter().filter(|(key, _)| matches!(key.part, Part::Tier(_))).map(shown);
        // Two a day for each GiB, from the first on.
        assert_eq!(
            of_tier.collect::<Vec<_>>(),
            [
                (time("2029-12-31T23:45:00Z"), false, 3 << 29, 0),
                (time("2030-01-01T23:45:00Z"), true, 3 << 29, 3),
            ]
        );
        assert_eq!(rows.len(), 6, "a row of each kind");
    }

    #[test]
    fn quarters_begin_at_quarters() {
        for (at, begins) in [
            ("2030-01-01T10:14:59.999999Z", "2030-01-01T10:00:00Z"),
            ("2030-01-01T10:15:00Z", "2030-01-01T10:15:00Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:45:00Z"),
        ] {
            assert_eq!(quarter(time(at)), time(begins));
        }
    }

    #[test]
    fn sums_cost_what_one_attempt_of_as_much_would_without_discounts() {
        let prices: Prices = serde_json::from_value(json!({
            "effective_from": "2030-01-01T00:00:00Z", "each": { "task": 5, "fire": 2, "stored_gib_month": 30 },
            "rates": { "cpu_core": 40_001, "memory_gib": 5_003, "disk_gib": 107, "thousand_iops": 1_009, "port": 11 },
        }))
        .unwrap();
        let (tier, ms) = (Some(Tier::Regular), 3_600_007);
        let resources = Tier::Regular.resources();
        let used = Use { resources, tier, ms, tolerance_s: None, flexible: true };
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = resources;
        let of = |amount: u32| i64::from(amount) * 3_600_007;
        let sums = Amounts {
            tasks: 3,
            fires: 2,
            stored_byte_days: 7 << 30,
            cpu_millis_ms: of(cpu_millis),
            memory_mib_ms: of(memory_mib),
            disk_mib_ms: of(disk_mib),
            iops_ms: of(iops),
            port_ms: of(ports),
            ..Amounts::default()
        };
        assert_eq!(sums.cost_by(&prices), prices.cost(&used) + Micros(15 + 4 + 7));
        assert_eq!(Amounts::default().cost_by(&prices), Micros(0));
    }
}
