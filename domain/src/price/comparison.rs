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

/// What an attempt and its task cost.
pub type CostBefore = (Micros, Micros);

fn add(month: &mut Month, (attempts, tasks): CostBefore, pieces: i64) {
    month.attempts = month.attempts + attempts;
    let Counted { pieces: sum, charge } = &mut month.tasks;
    *sum = sum.saturating_add(pieces.max(0).unsigned_abs());
    *charge = *charge + tasks;
}

impl PriceComparison {
    /// Adds an attempt. `before`: what it cost in the currency of `prices`.
    pub fn attempt(
        &mut self,
        prices: &Prices,
        used: &Use,
        (number, charged): (u32, bool),
        before: Option<CostBefore>,
    ) {
        let pieces = i64::from(number == 1);
        self.charged_attempts += i64::from(charged);
        match before {
            Some(cost) => add(&mut self.before, cost, pieces),
            None => self.elsewhere += i64::from(charged),
        }
        let after = (prices.cost(used), prices.task_cost(number));
        add(&mut self.after, after, pieces);
    }

    /// Adds sums over attempts of a tier, without the discounts of each, which sums do not tell. `same`: they were priced in the currency
    /// of `prices`.
    pub fn sums(&mut self, prices: &Prices, tier: Option<Tier>, sums: &Amounts, same: bool) {
        self.charged_attempts += sums.charged_attempts;
        if same {
            add(&mut self.before, (sums.attempts_cost, sums.tasks_cost), sums.tasks);
        } else {
            self.elsewhere += sums.charged_attempts;
        }
        let rates = *prices.rates_of(tier);
        let of_tier = Prices { rates, each: Each::default(), ..prices.clone() };
        let tasks = Micros(prices.each.task.saturating_mul(sums.tasks));
        add(&mut self.after, (sums.cost_by(&of_tier), tasks), sums.tasks);
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
            "effective_from": "2030-01-01T00:00:00Z", "each": { "task": 5 }, "rates": { "port": 1000 },
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
        let mut compared = PriceComparison::default();
        let cost = Some((Micros(70), Micros(7)));
        compared.attempt(&prices, &used(Tier::Basic, true), (1, true), cost);
        compared.attempt(&prices, &used(Tier::Premium, false), (2, true), None);
        compared.attempt(&prices, &Use { ms: 0, ..used(Tier::Basic, false) }, (1, false), None);
        assert_eq!((compared.charged_attempts, compared.elsewhere), (2, 1));
        let month = |attempts, pieces, charge| Month {
            attempts: Micros(attempts),
            tasks: Counted { pieces, charge: Micros(charge) },
        };
        assert_eq!(compared.before, month(70, 1, 7));
        assert_eq!(compared.after, month(basic / 2 + premium, 2, 10));

        let sums = Amounts {
            charged_attempts: 3,
            tasks: 2,
            port_ms: 3_600_000 * ports(Tier::Premium),
            attempts_cost: Micros(900),
            tasks_cost: Micros(8),
            ..Amounts::default()
        };
        let mut compared = PriceComparison::default();
        compared.sums(&prices, Some(Tier::Premium), &sums, true);
        assert_eq!((compared.charged_attempts, compared.elsewhere), (3, 0));
        assert_eq!(compared.before, month(900, 2, 8));
        assert_eq!(compared.after, month(premium, 2, 10));
        compared.sums(&prices, None, &sums, false);
        assert_eq!((compared.elsewhere, compared.before), (3, month(900, 2, 8)));
        assert!(!compared.is_empty() && PriceComparison::default().is_empty());
    }
}
