//! Tenants, as operators see them.

use domain::id::{PlanName, TenantId};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use serde::Deserialize;

/// A customer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Version, from 1: counts changes.
    pub version: i64,
    /// Its name; `None` after the purge.
    pub name: Option<String>,
    /// Its plan.
    pub plan: PlanName,
    /// Its own scheduling weight; `None`: the plan's.
    pub weight: Option<f64>,
    /// Its state.
    pub state: TenantState,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was suspended, if it is.
    pub suspended_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// When its data was purged.
    pub purged_at: Option<Timestamp>,
}

/// A tenant to store, all of it but its name.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantPut {
    /// Its plan.
    pub plan: PlanName,
    /// Its own scheduling weight, more than 0, up to 1000; `None`: the plan's.
    pub weight: Option<f64>,
    /// `Active` or `Suspended`.
    pub state: TenantState,
}

/// Which tenants to list. Default: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantFilter {
    /// Only in this state.
    pub state: Option<TenantState>,
    /// Only the one of this name.
    pub name: Option<String>,
}

impl TenantFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 2] {
        let state = self.state.map(|state| state.as_str().to_owned());
        [("state", state), ("name", self.name.clone())]
    }
}
