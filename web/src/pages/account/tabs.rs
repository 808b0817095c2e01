//! The tabs of the account's pages: those that the one who asks may see.

use crate::listing::Tab;
use crate::visit::Visit;
use domain::access::Permission;

/// The tabs.
pub(super) fn tabs(visit: &Visit) -> Vec<Tab> {
    let here = visit.http.path();
    let all = [
        (Permission::ReadUsage, "/account", "Limits and use"),
        (Permission::OwnKeys, "/account/keys", "API keys"),
        (Permission::ReadUsers, "/account/users", "Users"),
        (Permission::ReadAudit, "/account/audit", "Audit log"),
    ];
    let shown = all.into_iter().filter(|(permission, ..)| visit.may(*permission));
    shown.map(|(_, href, label)| (href.to_owned(), label, href == here)).collect()
}
