//! Roles that the one who asks may give, and what each may do, in a line.

use crate::backend::Who;
use crate::visit::Visit;
use domain::access::Role;

/// A role to choose.
pub(super) struct Choice {
    pub word: &'static str,
    pub says: &'static str,
    pub chosen: bool,
}

/// Those that may be given: nobody gives what they lack.
pub(super) fn choices(visit: &Visit, chosen: &str) -> Vec<Choice> {
    let may = |role: &Role| matches!(&visit.who, Some(Who::Tenant(_, all)) if all.includes(role.permissions()));
    let choice = |role: Role| Choice {
        word: role.as_str(),
        says: says(role),
        chosen: role.as_str() == chosen,
    };
    Role::ALL.into_iter().filter(may).map(choice).collect()
}

const fn says(role: Role) -> &'static str {
    match role {
        Role::Owner => "everything, with other owners",
        Role::Admin => "everything but owners",
        Role::Developer => "tasks, schedules, workflows, and keys of their own",
        Role::Billing => "usage, costs, invoices and spend caps; no tasks",
        Role::Viewer => "reads tasks and costs",
    }
}
