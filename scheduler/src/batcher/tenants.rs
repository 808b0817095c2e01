//! Terms of tenants with work: weight, limit of running tasks, and whether they may run.
//!
//! Read when a tenant first has work, and each second while it does: so changes of weight or plan, suspensions and
//! resumptions take effect within about a second, and the cost depends on active tenants only.

use domain::id::TenantId;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::tenant::TenantTerms;

/// A tenant is dropped after this long without work.
const IDLE: Duration = Duration::from_secs(60);

/// The terms of tenants with work.
#[derive(Debug, Default)]
pub(super) struct Tenants {
    cached: HashMap<TenantId, CachedTerms>,
}

#[derive(Debug)]
struct CachedTerms {
    /// `None`: the tenant has no row, so no limit and weight 1.
    terms: Option<TenantTerms>,
    /// When it last had work.
    active_at: Instant,
}

impl Tenants {
    /// Reads all terms again; returns tenants that may no longer run.
    pub(super) async fn refresh(
        &mut self,
        db: &SchedulerDb,
        now: Instant,
    ) -> Result<Vec<TenantId>, StoreError> {
        self.cached.retain(|_, cached| now.saturating_duration_since(cached.active_at) < IDLE);
        let all: Vec<_> = self.cached.keys().copied().collect();
        self.read(db, &all, None).await
    }

    /// Reads terms of `tenants` that are not cached. Returns those that may not run; `None` if nothing was read.
    pub(super) async fn read_new(
        &mut self,
        db: &SchedulerDb,
        tenants: impl Iterator<Item = TenantId>,
        now: Instant,
    ) -> Result<Option<Vec<TenantId>>, StoreError> {
        let mut new = Vec::new();
        for tenant in tenants {
            match self.cached.get_mut(&tenant) {
                Some(cached) => cached.active_at = now,
                None => new.push(tenant),
            }
        }
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(None);
        }
        self.read(db, &new, Some(now)).await.map(Some)
    }

    /// Weights that differ from 1.
    pub(super) fn weights(&self) -> impl Iterator<Item = (TenantId, f64)> {
        let terms = self.cached.values().filter_map(|cached| cached.terms);
        terms.filter(|terms| terms.weight != 1.0).map(|terms| (terms.tenant, terms.weight))
    }

    /// Limits on running tasks; 0 for a tenant that may not run.
    pub(super) fn limits(&self) -> impl Iterator<Item = (TenantId, u64)> {
        self.cached.values().filter_map(|cached| cached.terms).map(|terms| {
            let limit = if terms.state.may_run() { u64::from(terms.running_tasks) } else { 0 };
            (terms.tenant, limit)
        })
    }

    async fn read(
        &mut self,
        db: &SchedulerDb,
        tenants: &[TenantId],
        active_at: Option<Instant>,
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
            let before = self.cached.get(tenant);
            if !runs(terms) && before.is_none_or(|cached| runs(cached.terms)) {
                stopped.push(*tenant);
            }
            let Some(active_at) = active_at.or(before.map(|cached| cached.active_at)) else {
                continue;
            };
            self.cached.insert(*tenant, CachedTerms { terms, active_at });
        }
        Ok(stopped)
    }
}
