//! What one attempt costs.

use super::rounding::half_even;
use super::{MONTH_DAYS, Micros, Prices, Rates};
use crate::resources::{Resources, Tier};

pub(super) const HOUR_MS: u128 = 3_600_000;
/// The least number that thousands and the 1024 MiB of a GiB divide.
pub(super) const SHARED: u128 = 128_000;
/// What [`Prices::ms_rate`] is a fraction of.
pub(super) const WHOLE: u128 = SHARED * HOUR_MS * 100 * 100;

/// Bytes.
const GIB: u128 = 1 << 30;

/// What an attempt held, and what its task allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Use {
    /// What it held.
    pub resources: Resources,
    /// The tier of its task; `None`: it gave resources.
    pub tier: Option<Tier>,
    /// How long it is billed for, ms.
    pub ms: u64,
    /// Delay tolerance of its task, seconds; `None`: without limit.
    pub tolerance_s: Option<u64>,
    /// Whether its task is flexible.
    pub flexible: bool,
}

/// What an attempt costs, part by part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostParts {
    /// Cores.
    pub cpu: Micros,
    /// Memory.
    pub memory: Micros,
    /// Disk.
    pub disk: Micros,
    /// Disk operations.
    pub iops: Micros,
    /// Ports.
    pub ports: Micros,
    /// The cost is rounded once, and not the sum of these.
    pub rounding: Micros,
    /// By the delay tolerance, not positive.
    pub tolerance_discount: Micros,
    /// For being flexible, not positive.
    pub flexible_discount: Micros,
}

impl CostParts {
    /// What they add up to.
    #[must_use]
    pub fn sum(&self) -> Micros {
        [self.cpu, self.memory, self.disk, self.iops, self.ports, self.rounding]
            .into_iter()
            .chain([self.tolerance_discount, self.flexible_discount])
            .sum()
    }
}

impl Rates {
    /// Micro-units for an hour, times [`SHARED`].
    fn hour(&self, held: Resources) -> u128 {
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = held;
        let parts = [
            (self.cpu_core, cpu_millis, SHARED / 1000),
            (self.memory_gib, memory_mib, SHARED / 1024),
            (self.disk_gib, disk_mib, SHARED / 1024),
            (self.thousand_iops, iops, SHARED / 1000),
            (self.port, ports, SHARED),
        ];
        let part = |(rate, amount, scale): (i64, u32, u128)| {
            u128::from(rate.max(0).unsigned_abs()) * u128::from(amount) * scale
        };
        parts.into_iter().map(part).sum()
    }
}

impl Prices {
    /// Percent that are left of the price by the delay tolerance, and by being flexible.
    fn left(&self, used: &Use) -> (u128, u128) {
        let fits = |at_least: u64| used.tolerance_s.is_none_or(|tolerance| tolerance >= at_least);
        let bands = self.discounts.tolerance.iter();
        let band = bands.rev().find(|band| fits(band.at_least_s)).map_or(0, |band| band.percent);
        let flexible = if used.flexible { self.discounts.flexible_percent } else { 0 };
        let left = |percent: u8| u128::from(100_u8.saturating_sub(percent));
        (left(band), left(flexible))
    }

    /// What a ms of an attempt costs, less the discounts, as a fraction of [`WHOLE`].
    pub(super) fn ms_rate(&self, used: &Use) -> u128 {
        let (tolerance, flexible) = self.left(used);
        self.rates_of(used.tier).hour(used.resources).saturating_mul(tolerance * flexible)
    }

    /// What an attempt costs: the price of what it held for as long as it is billed, less the discounts, rounded half to even once.
    #[must_use]
    pub fn cost(&self, used: &Use) -> Micros {
        half_even(self.ms_rate(used).saturating_mul(used.ms.into()), WHOLE)
    }

    /// The parts of what an attempt costs; they add up to it.
    #[must_use]
    pub fn parts(&self, used: &Use) -> CostParts {
        let undiscounted = |held: Resources| {
            let hour = self.rates_of(used.tier).hour(held).saturating_mul(100 * 100);
            half_even(hour.saturating_mul(used.ms.into()), WHOLE)
        };
        let whole = undiscounted(used.resources);
        let inflexible = self.cost(&Use { flexible: false, ..*used });
        let cost = self.cost(used);
        let Resources { cpu_millis, memory_mib, disk_mib, iops, ports } = used.resources;
        let none = Resources::default();
        let [cpu, memory, disk, operations, port] = [
            Resources { cpu_millis, ..none },
            Resources { memory_mib, ..none },
            Resources { disk_mib, ..none },
            Resources { iops, ..none },
            Resources { ports, ..none },
        ]
        .map(undiscounted);
        CostParts {
            cpu,
            memory,
            disk,
            iops: operations,
            ports: port,
            rounding: whole - cpu - memory - disk - operations - port,
            tolerance_discount: inflexible - whole,
            flexible_discount: cost - inflexible,
        }
    }

    /// What a task costs, which its first attempt bears.
    #[must_use]
    pub fn task_cost(&self, attempt: u32) -> Micros {
        Micros(if attempt == 1 { self.each.task } else { 0 })
    }

    /// What the fire costs whose task this is, or whose run begins with it: its first attempt bears it.
    #[must_use]
    pub fn fire_cost(&self, attempt: u32, is_fired: bool) -> Micros {
        Micros(if attempt == 1 && is_fired { self.each.fire } else { 0 })
    }

    /// What so many bytes of output cost that are stored for a day, rounded half to even.
    #[must_use]
    pub fn stored_day_cost(&self, bytes: u64) -> Micros {
        let rate = u128::from(self.each.stored_gib_month.max(0).unsigned_abs());
        half_even(rate * u128::from(bytes), GIB * u128::from(MONTH_DAYS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn prices() -> Prices {
        serde_json::from_value(json!({
            "effective_from": "2030-01-01T00:00:00Z",
            "rates": { "cpu_core": 40_000, "memory_gib": 5000, "disk_gib": 100, "thousand_iops": 1000, "port": 10 },
            "tiers": { "premium": { "cpu_core": 30_000, "memory_gib": 4000 } },
            "discounts": { "flexible_percent": 30,
                "tolerance": [{ "at_least_s": 3600, "percent": 20 }, { "at_least_s": 86400, "percent": 40 }] },
        }))
        .unwrap()
    }

    fn hour(tier: Tier) -> Use {
        let (resources, ms) = (tier.resources(), 3_600_000);
        Use { resources, tier: Some(tier), ms, tolerance_s: Some(0), flexible: false }
    }

    #[test]
    fn an_hour_of_each_tier() {
        // Basic: 10 000 + 2500 + 100 + 50 + 10. Regular: 40 000 + 10 000 + 500 + 200 + 20. Premium: 120 000 + 32 000.
        let costs = Tier::ALL.map(|tier| prices().cost(&hour(tier)).0);
        assert_eq!(costs, [12_660, 50_720, 152_000]);
        let no_tier = Use { tier: None, ..hour(Tier::Premium) };
        assert_eq!(prices().cost(&no_tier).0, 160_000 + 40_000 + 2000 + 1000 + 40);
    }

    #[test]
    fn a_cost_is_rounded_once_half_to_even() {
        let cost = |ms| prices().cost(&Use { ms, ..hour(Tier::Basic) }).0;
        // 12 660 an hour are 3.5166... micro-units a second.
        assert_eq!([0, 1, 142, 143, 1000, 60_000].map(cost), [0, 0, 0, 1, 4, 211]);
        let even: Prices = serde_json::from_value(
            json!({ "effective_from": "2030-01-01T00:00:00Z", "rates": { "port": 7200 } }),
        )
        .unwrap();
        let half = |ms| even.cost(&Use { ms, ..hour(Tier::Basic) }).0;
        // Two a second: 250 ms are half a micro-unit, 750 ms one and a half.
        assert_eq!([250, 251, 750, 1250].map(half), [0, 1, 2, 2]);
    }

    #[test]
    fn discounts_apply_both_by_the_last_band_that_fits() {
        let cost = |tolerance_s, flexible| {
            prices().cost(&Use { tolerance_s, flexible, ..hour(Tier::Premium) }).0
        };
        assert_eq!(cost(Some(3599), false), 152_000);
        assert_eq!(cost(Some(3600), false), 121_600);
        assert_eq!(cost(Some(86_400), false), 91_200);
        assert_eq!(cost(None, false), 91_200);
        assert_eq!(cost(Some(0), true), 106_400);
        assert_eq!(cost(None, true), 63_840);
    }

    #[test]
    fn a_fire_costs_once_and_only_where_a_schedule_fired() {
        let mut prices = prices();
        prices.each.fire = 7;
        let cost = |attempt, is_fired| prices.fire_cost(attempt, is_fired).0;
        assert_eq!([cost(1, true), cost(2, true), cost(1, false)], [7, 0, 0]);
    }

    #[test]
    fn stored_output_costs_by_the_day_half_to_even() {
        let mut prices = prices();
        prices.each.stored_gib_month = 60;
        // Two a day for each GiB.
        let cost = |bytes: u64| prices.stored_day_cost(bytes).0;
        let gib = 1_u64 << 30;
        assert_eq!(
            [0, gib / 4, gib / 4 + 1, gib, 3 * gib / 4, 10 * gib].map(cost),
            [0, 0, 1, 2, 2, 20]
        );
        prices.each.stored_gib_month = super::super::MOST_RATE;
        assert!(prices.stored_day_cost(u64::MAX).0 > 0);
    }

    proptest! {
        /// Long and large attempts cost as much as the exact fraction, and more is never cheaper.
        #[test]
        fn more_costs_no_less(ms in 0..=31_622_400_000_u64, cpu_millis in 0..=1_024_000_u32, more in 0..=1000_u32) {
            let held = Resources { cpu_millis, memory_mib: 1024, ..Resources::default() };
            let used = Use { resources: held, tier: None, ms, tolerance_s: Some(0), flexible: true };
            let cost = prices().cost(&used).0;
            let larger = Resources { cpu_millis: cpu_millis + more, ..held };
            let dearer = prices().cost(&Use { resources: larger, ..used }).0;
            prop_assert!(dearer >= cost);
            let exact = (f64::from(cpu_millis) * 40.0 + 5000.0) * ms as f64 / 3_600_000.0 * 0.7;
            prop_assert!((cost as f64 - exact).abs() <= 0.51 + exact * 1e-12, "{cost} {exact}");
        }

        /// At the ends of all ranges nothing overflows.
        #[test]
        fn nothing_overflows(ms: u64, cpu_millis: u32, ports: u32, tolerance_s: Option<u64>, flexible: bool) {
            let mut dear = prices();
            dear.rates.cpu_core = super::super::MOST_RATE;
            dear.rates.port = super::super::MOST_RATE;
            let resources = Resources { cpu_millis, ports, ..Resources::default() };
            let used = Use { resources, tier: None, ms, tolerance_s, flexible };
            prop_assert!(dear.cost(&used).0 >= 0);
        }
    }
}
