//! The tabs of the operators' pages.

use crate::listing::Tab;
use crate::visit::Visit;

/// The tabs.
pub(super) fn tabs(visit: &Visit) -> Vec<Tab> {
    let here = visit.http.path();
    let all = [
        ("/operators", "Executors"),
        ("/operators/pools", "Pools"),
        ("/operators/tenants", "Tenants"),
        ("/operators/costs", "Costs and margins"),
        ("/operators/plans", "Plans"),
    ];
    // The page of one tenant is of the tab of all.
    let is_in = |href: &str| {
        here == href || (href != "/operators" && here.starts_with(&format!("{href}/")))
    };
    all.into_iter().map(|(href, label)| (href.to_owned(), label, is_in(href))).collect()
}
