//! What a pool allows its attempts beyond the strict default, and who may use it.
//!
//! Set by the platform's operators. What it allows is sent to each executor when it connects: both doors lead from customers' work into
//! the network that the executors stand in, so both are closed unless an operator opens them. Who may use it is checked where work is
//! submitted and where a schedule fires; a new pool is granted to nobody.

use crate::id::{PlanName, TenantId};
use std::collections::BTreeSet;

/// What attempts in a pool may do. The default allows nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolPolicy {
    /// Commands reach the network of their executor; otherwise they have none.
    pub command_network: bool,
    /// HTTP tasks reach private, loopback and link-local addresses; otherwise only public ones.
    pub private_targets: bool,
}

/// Who may use a pool: nobody by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolGrants {
    /// Every tenant.
    pub everyone: bool,
    /// The tenants on one of these plans.
    pub plans: BTreeSet<PlanName>,
    /// These tenants.
    pub tenants: BTreeSet<TenantId>,
}

/// Who asks for a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolUser<'a> {
    /// The tenant.
    pub tenant: TenantId,
    /// The plan that it is on.
    pub plan: &'a PlanName,
}

impl PoolGrants {
    /// Plans and tenants that a pool may be granted to in one request; for more tenants there are plans.
    pub const MOST: usize = 300;

    /// Granted to every tenant.
    #[must_use]
    pub fn everyone() -> Self {
        Self { everyone: true, ..Self::default() }
    }

    /// Whether `user` may use the pool.
    #[must_use]
    pub fn admit(&self, user: PoolUser<'_>) -> bool {
        self.everyone || self.tenants.contains(&user.tenant) || self.plans.contains(user.plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_for_whom_it_is_granted_to_and_a_new_one_for_nobody() {
        let (plan, other): (PlanName, PlanName) =
            ("team".parse().unwrap(), "free".parse().unwrap());
        let tenant = TenantId::fresh();
        let by = |grants: &PoolGrants| {
            let user = |tenant, plan| grants.admit(PoolUser { tenant, plan });
            (user(tenant, &plan), user(tenant, &other), user(TenantId::fresh(), &other))
        };
        assert_eq!(by(&PoolGrants::default()), (false, false, false));
        assert_eq!(by(&PoolGrants::everyone()), (true, true, true));
        let of_plan = PoolGrants { plans: [plan.clone()].into(), ..PoolGrants::default() };
        assert_eq!(by(&of_plan), (true, false, false));
        let of_tenant = PoolGrants { tenants: [tenant].into(), ..PoolGrants::default() };
        assert_eq!(by(&of_tenant), (true, true, false));
    }
}
