//! What use that was priced already costs by other prices.

use super::{Amounts, Counted, Each, Micros, Month, Prices, Use};
use crate::resources::Tier;

/// What a tenant used in a month, as it was priced and by other prices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PriceComparison {
    /// Billed attempts.
    pub charged_attempts: i64,
    /// Those of them that had no price, or one in another currency.
    pub elsewhere: i64,
    /// As it was priced, in the currency of the other prices.
    pub before: Month,
    /// By the other prices.
    pub after: Month,
}

/// What an attempt cost, with what it bears.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostBefore {
    /// The attempt.
    pub attempt: Micros,
    /// Its task, with the first attempt.
    pub task: Micros,
    /// The fire that led to it, with the same.
    pub fire: Micros,
}

/// An attempt to be priced again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedAttempt {
    /// What it used.
    pub used: Use,
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is billed.
    pub charged: bool,
    /// Whether a fire led to it.
    pub is_fired: bool,
}

fn count(counted: &mut Counted, pieces: i64, charge: Micros) {
    counted.pieces = counted.pieces.saturating_add(pieces.max(0).unsigned_abs());
    counted.charge = counted.charge + charge;
}

fn add(month: &mut Month, cost: CostBefore, [tasks, fires]: [i64; 2]) {
    month.attempts = month.attempts + cost.attempt;
    count(&mut month.tasks, tasks, cost.task);
    count(&mut month.fires, fires, cost.fire);
}

impl PriceComparison {
    /// Adds an attempt. `before`: what it cost in the currency of `prices`.
    pub fn attempt(
        &mut self,
        prices: &Prices,
        attempt: &ComparedAttempt,
        before: Option<CostBefore>,
    ) {
        let ComparedAttempt { used, number, charged, is_fired } = *attempt;
        let first = number == 1;
        let pieces = [i64::from(first), i64::from(first && is_fired)];
        self.charged_attempts += i64::from(charged);
        match before {
            Some(cost) => add(&mut self.before, cost, pieces),
            None => self.elsewhere += i64::from(charged),
        }
        let (attempt, task) = (prices.cost(&used), prices.task_cost(number));
        let after = CostBefore { attempt, task, fire: prices.fire_cost(number, is_fired) };
        add(&mut self.after, after, pieces);
    }

    /// Adds output that was stored for a day. `before`: what it cost in the currency of `prices`.
    pub fn stored(&mut self, prices: &Prices, bytes: u64, before: Option<Micros>) {
        self.before.stored = self.before.stored + before.unwrap_or_default();
        self.after.stored = self.after.stored + prices.stored_day_cost(bytes);
    }

    /// Adds sums over attempts of a tier, without the discounts of each, which sums do not tell. `same`: they were priced in the currency
    /// of `prices`.
    pub fn sums(&mut self, prices: &Prices, tier: Option<Tier>, sums: &Amounts, same: bool) {
        self.charged_attempts += sums.charged_attempts;
        if same {
            let Amounts { attempts_cost, tasks_cost, fires_cost, stored_cost, .. } = *sums;
            let cost = CostBefore { attempt: attempts_cost, task: tasks_cost, fire: fires_cost };
            add(&mut self.before, cost, [sums.tasks, sums.fires]);
            self.before.stored = self.before.stored + stored_cost;
        } else {
            self.elsewhere += sums.charged_attempts;
        }
        let rates = *prices.rates_of(tier);
        let of_tier = Prices { rates, each: Each::default(), ..prices.clone() };
        let of = |each: i64, pieces: i64| Micros(each.saturating_mul(pieces));
        let Each { task, fire, .. } = prices.each;
        let attempt = sums.cost_by(&of_tier);
        let cost = CostBefore { attempt, task: of(task, sums.tasks), fire: of(fire, sums.fires) };
        add(&mut self.after, cost, [sums.tasks, sums.fires]);
        let stored = sums.stored_byte_days.max(0).unsigned_abs();
        self.after.stored = self.after.stored + prices.stored_day_cost(stored);
    }

    /// Whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prices() -> Prices {
        serde_json::from_value(json!({
            "effective_from": "2030-01-01T00:00:00Z", "each": { "task": 5, "fire": 2, "stored_gib_month": 30 }, "rates": { "port": 1000 },
            "tiers": { "premium": { "port": 3000 } }, "discounts": { "flexible_percent": 50 },
        }))
        .unwrap()
    }

    #[test]
    fn attempts_are_priced_with_discounts_and_sums_by_their_tiers_without() {
        let prices = prices();
        let used = |tier: Tier, flexible| Use {
            resources: tier.resources(),
            tier: Some(tier),
            ms: 3_600_000,
            tolerance_s: None,
            flexible,
        };
        let ports = |tier: Tier| i64::from(tier.resources().ports);
        let (basic, premium) = (ports(Tier::Basic) * 1000, ports(Tier::Premium) * 3000);
        let attempt =
            |used, (number, charged), is_fired| ComparedAttempt { used, number, charged, is_fired };
        let mut compared = PriceComparison::default();
        let cost = CostBefore { attempt: Micros(70), task: Micros(7), fire: Micros(1) };
        compared.attempt(&prices, &attempt(used(Tier::Basic, true), (1, true), true), Some(cost));
        compared.attempt(&prices, &attempt(used(Tier::Premium, false), (2, true), true), None);
        let lost = Use { ms: 0, ..used(Tier::Basic, false) };
        compared.attempt(&prices, &attempt(lost, (1, false), false), None);
        compared.stored(&prices, 2 << 30, Some(Micros(4)));
        assert_eq!((compared.charged_attempts, compared.elsewhere), (2, 1));
        let counted = |pieces, charge| Counted { pieces, charge: Micros(charge) };
        let month = |attempts, tasks, fires, stored| Month {
            attempts: Micros(attempts),
            tasks,
            fires,
            stored: Micros(stored),
        };
        let (attempts, stored) = (basic / 2 + premium, 2);
        assert_eq!(compared.before, month(70, counted(1, 7), counted(1, 1), 4));
        assert_eq!(compared.after, month(attempts, counted(2, 10), counted(1, 2), stored));

        let sums = Amounts {
            charged_attempts: 3,
            tasks: 2,
            port_ms: 3_600_000 * ports(Tier::Premium),
            attempts_cost: Micros(900),
            tasks_cost: Micros(8),
            fires: 1,
            fires_cost: Micros(6),
            stored_byte_days: 3 << 30,
            stored_cost: Micros(2),
            ..Amounts::default()
        };
        let mut compared = PriceComparison::default();
        compared.sums(&prices, Some(Tier::Premium), &sums, true);
        assert_eq!((compared.charged_attempts, compared.elsewhere), (3, 0));
        let before = month(900, counted(2, 8), counted(1, 6), 2);
        assert_eq!(compared.before, before);
        assert_eq!(compared.after, month(premium, counted(2, 10), counted(1, 2), 3));
        compared.sums(&prices, None, &sums, false);
        assert_eq!((compared.elsewhere, compared.before), (3, before));
        assert!(!compared.is_empty() && PriceComparison::default().is_empty());
    }
}
