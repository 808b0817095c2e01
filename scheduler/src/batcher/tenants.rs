//! On which terms the tenants run that have work: weight, limit, and whether they may run at all.
//!
//! Read for tenants when they first show work, and again each second while they do: so a changed weight or plan, a suspension
//! and a resumption act on what waits within about a second, and what this costs follows the active tenants.

use domain::batch::Running;
use domain::id::TenantId;
use runtime::clock::Instant;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::tenant::TenantTerms;

/// A tenant without work for this long is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// How many of those that had work lately are told by [`Tenants::free`], ...
const LATELY: usize = 64;
/// ... where as many more of theirs may run.
const FREE: u64 = 8;

/// The terms of tenants with work.
#[derive(Debug, Default)]
pub(super) struct Tenants {
    known: HashMap<TenantId, Known>,
    /// Some that had work, who came last first.
    lately: VecDeque<TenantId>,
}

#[derive(Debug)]
struct Known {
    /// None where the tenant has no row: then it runs on no terms at all.
    terms: Option<TenantTerms>,
    seen: Instant,
}

impl Tenants {
    /// Reads the terms of all known tenants again; gives those that may not run any more.
    pub(super) async fn refresh(
        &mut self,
        db: &SchedulerDb,
        now: Instant,
    ) -> Result<Vec<TenantId>, StoreError> {
        self.known.retain(|_, known| now.saturating_duration_since(known.seen) < IDLE);
        let all: Vec<_> = self.known.keys().copied().collect();
        self.read(db, &all, None).await
    }

    /// Reads the terms of those of `tenants`, which have work, that are not known; gives those that may not run, and whether
    /// there were any.
    pub(super) async fn learn(
        &mut self,
        db: &SchedulerDb,
        tenants: impl Iterator<Item = TenantId>,
        now: Instant,
    ) -> Result<Option<Vec<TenantId>>, StoreError> {
        let mut unknown = Vec::new();
        for tenant in tenants {
            self.had_work(tenant);
            match self.known.get_mut(&tenant) {
                Some(known) => known.seen = now,
                None => unknown.push(tenant),
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(None);
        }
        self.read(db, &unknown, Some(now)).await.map(Some)
    }

    fn had_work(&mut self, tenant: TenantId) {
        if !self.lately.contains(&tenant) {
            self.lately.truncate(LATELY - 1);
            self.lately.push_front(tenant);
        }
    }

    /// Of those that had work lately some that are not near their limits, and how many more tasks each of them may run.
    pub(super) fn free(&self, running: &Running) -> (Vec<TenantId>, u64) {
        let known = self.lately.iter().filter(|tenant| self.known.contains_key(tenant));
        let left = known.map(|tenant| (*tenant, running.left(*tenant).unwrap_or(u64::MAX)));
        let (free, left): (Vec<_>, Vec<_>) = left.filter(|(_, left)| *left >= FREE).unzip();
        (free, left.into_iter().min().unwrap_or_default())
    }

    /// Weights that differ from 1.
    pub(super) fn weights(&self) -> impl Iterator<Item = (TenantId, f64)> {
        let terms = self.known.values().filter_map(|known| known.terms);
        terms.filter(|terms| terms.weight != 1.0).map(|terms| (terms.tenant, terms.weight))
    }

    /// Limits on running tasks; 0 for who may not run.
    pub(super) fn limits(&self) -> impl Iterator<Item = (TenantId, u64)> {
        self.known.values().filter_map(|known| known.terms).map(|terms| {
            let limit = if terms.state.may_run() { u64::from(terms.running_tasks) } else { 0 };
            (terms.tenant, limit)
        })
    }

    async fn read(
        &mut self,
        db: &SchedulerDb,
        tenants: &[TenantId],
        seen: Option<Instant>,
    ) -> Result<Vec<TenantId>, StoreError> {
        if tenants.is_empty() {
            return Ok(Vec::new());
        }
        let read = store::tenant::terms(db, tenants).await?;
        let terms: HashMap<_, _> = read.into_iter().map(|terms| (terms.tenant, terms)).collect();
        let mut stopped = Vec::new();
        for tenant in tenants {
            let terms = terms.get(tenant).copied();
            let runs = |terms: Option<TenantTerms>| terms.is_none_or(|t| t.state.may_run());
            let before = self.known.get(tenant);
            if !runs(terms) && before.is_none_or(|known| runs(known.terms)) {
                stopped.push(*tenant);
            }
            let Some(seen) = seen.or(before.map(|known| known.seen)) else { continue };
            self.known.insert(*tenant, Known { terms, seen });
        }
        Ok(stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock;
    use uuid::Uuid;

    fn tenant(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    fn with(
        lately: impl IntoIterator<Item = u128>,
        known: impl IntoIterator<Item = u128>,
    ) -> Tenants {
        let seen = clock::monotonic();
        let known = known.into_iter().map(|n| (tenant(n), Known { terms: None, seen })).collect();
        Tenants { known, lately: lately.into_iter().map(tenant).collect() }
    }

    #[test]
    fn who_is_near_a_limit_or_on_unknown_terms_is_not_free_and_each_may_run_as_many_as_the_least_of_them()
     {
        let tenants = with(1..=5, [1, 2, 3, 5]);
        let mut running = Running::default();
        running.set_limits([(tenant(1), 100), (tenant(2), 0), (tenant(3), 60), (tenant(4), 100)]);
        running.counted([(tenant(3), 40)]);
        assert_eq!(tenants.free(&running), (vec![tenant(1), tenant(3), tenant(5)], 20));
        running.counted([(tenant(3), 60 - FREE + 1)]);
        assert_eq!(tenants.free(&running), (vec![tenant(1), tenant(5)], 100));
        assert_eq!(with([], [1]).free(&running), (vec![], 0));
    }

    #[test]
    fn of_many_with_work_the_last_are_kept() {
        let mut tenants = with([], 1..=100);
        for n in 1..=100 {
            tenants.had_work(tenant(n));
            tenants.had_work(tenant(100));
        }
        let (free, _) = tenants.free(&Running::default());
        assert_eq!(free.len(), LATELY);
        assert!(
            free.contains(&tenant(100)) && free.contains(&tenant(99)) && !free.contains(&tenant(1))
        );
    }
}
