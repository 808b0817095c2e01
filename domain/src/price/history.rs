//! Which prices hold for whom, and when: what price books, plans and tenants were at each instant.

use super::{Billing, PriceBook, Prices};
use crate::id::{PlanName, PriceBookName, TenantId};
use crate::time::Timestamp;
use std::collections::HashMap;
use std::hash::Hash;

/// Values, each from an instant on, ascending.
type Spans<T> = Vec<(Timestamp, T)>;

/// What price books, plans and tenants were.
#[derive(Debug, Clone, Default)]
pub struct PriceHistory {
    books: HashMap<PriceBookName, PriceBook>,
    plans: HashMap<PlanName, Spans<Option<Billing>>>,
    tenants: HashMap<TenantId, Spans<PlanName>>,
}

/// Prices, and the book that they are of.
pub type BookPrices<'a> = (&'a PriceBookName, &'a Prices);

fn put<K: Eq + Hash, T>(spans: &mut HashMap<K, Spans<T>>, key: K, since: Timestamp, value: T) {
    let spans = spans.entry(key).or_default();
    let at = spans.partition_point(|(earlier, _)| *earlier <= since);
    spans.insert(at, (since, value));
}

fn at<T>(spans: &[(Timestamp, T)], at: Timestamp) -> Option<&T> {
    let later = spans.partition_point(|(since, _)| *since <= at);
    later.checked_sub(1).and_then(|last| spans.get(last)).map(|(_, value)| value)
}

impl PriceHistory {
    /// A price book.
    pub fn book(&mut self, name: PriceBookName, book: PriceBook) {
        self.books.insert(name, book);
    }

    /// A plan is billed like this from an instant on.
    pub fn plan(&mut self, name: PlanName, since: Timestamp, billing: Option<Billing>) {
        put(&mut self.plans, name, since, billing);
    }

    /// A tenant is on a plan from an instant on.
    pub fn tenant(&mut self, tenant: TenantId, since: Timestamp, plan: PlanName) {
        put(&mut self.tenants, tenant, since, plan);
    }

    /// How a tenant is billed at an instant; `None`: not at all.
    #[must_use]
    pub fn billing(&self, tenant: TenantId, instant: Timestamp) -> Option<&Billing> {
        let plan = at(self.tenants.get(&tenant)?, instant)?;
        at(self.plans.get(plan)?, instant)?.as_ref()
    }

    /// The prices that hold for a tenant at an instant; `None`: none, and what is used then costs nothing.
    #[must_use]
    pub fn prices(&self, tenant: TenantId, instant: Timestamp) -> Option<BookPrices<'_>> {
        let (name, book) = self.books.get_key_value(&self.billing(tenant, instant)?.price_book)?;
        Some((name, book.at(instant)?))
    }

    /// The book of this name.
    #[must_use]
    pub fn named(&self, name: &PriceBookName) -> Option<&PriceBook> {
        self.books.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::parse_time;
    use serde_json::json;

    fn day(day: u32) -> Timestamp {
        parse_time(&format!("2030-01-{day:02}T00:00:00Z")).unwrap()
    }

    fn book(days: &[u32]) -> PriceBook {
        let prices: Vec<_> =
            days.iter().map(|at| json!({ "effective_from": day(*at).to_rfc3339() })).collect();
        serde_json::from_value(json!({ "currency": "EUR", "prices": prices })).unwrap()
    }

    #[test]
    fn what_held_then_holds_however_late_it_is_asked() {
        let (old, new): (PriceBookName, PriceBookName) =
            ("old".parse().unwrap(), "new".parse().unwrap());
        let (free, team): (PlanName, PlanName) = ("free".parse().unwrap(), "team".parse().unwrap());
        let tenant = TenantId::fresh();
        let billed = |book: &PriceBookName| {
            Some(serde_json::from_value(json!({ "price_book": book })).unwrap())
        };
        let mut history = PriceHistory::default();
        history.book(old.clone(), book(&[1, 6]));
        history.book(new.clone(), book(&[1]));
        // In no order.
        history.plan(team.clone(), day(10), None);
        history.plan(team.clone(), day(1), billed(&old));
        history.plan(team.clone(), day(8), billed(&new));
        history.plan(free.clone(), day(1), None);
        history.tenant(tenant, day(4), team);
        history.tenant(tenant, day(2), free);
        let held = |at| {
            history.prices(tenant, at).map(|(name, prices)| (name.clone(), prices.effective_from))
        };
        assert_eq!(held(day(1)), None, "there was no such tenant");
        assert_eq!(held(day(3)), None, "its plan had no prices");
        assert_eq!(held(day(4)), Some((old.clone(), day(1))));
        assert_eq!(held(day(5)), Some((old.clone(), day(1))));
        assert_eq!(held(day(6)), Some((old, day(6))));
        assert_eq!(held(day(8)), Some((new.clone(), day(1))));
        assert_eq!(held(day(9)), Some((new, day(1))));
        assert_eq!(held(day(10)), None);
        assert_eq!(history.prices(TenantId::fresh(), day(9)).map(|(name, _)| name), None);
    }
}
