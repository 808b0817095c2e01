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
    all.into_iter().map(|(href, label)| (href.to_owned(), label, href == here)).collect()
}
