//! On which terms the tenants run that have work: weight, limit, and whether they may run at all.
//!
//! Read for tenants when they first show work, and again each second while they do: so a changed weight or plan, a suspension
//! and a resumption act on what waits within about a second, and what this costs follows the active tenants.

use domain::id::TenantId;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::tenant::TenantTerms;

/// A tenant without work for this long is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// The terms of tenants with work.
#[derive(Debug, Default)]
pub(super) struct Tenants {
    known: HashMap<TenantId, Known>,
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
