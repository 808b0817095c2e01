//! Filters of tenants.

use domain::tenant::TenantState;

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
