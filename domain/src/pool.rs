//! Pools: permissions of attempts, capacity limits of executors, and grants.
//!
//! Set by operators. Permissions are sent to each executor when it connects; they give customers' work access to the
//! network of the executors, so they are off by default. The capacity of an executor is checked when its session opens.
//! Grants are checked at submit and when a schedule fires; a new pool is granted to no tenant.

use crate::id::{PlanName, TenantId};
use crate::resources::{Dimension, Resources};
use std::collections::BTreeSet;

/// Settings of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolSettings {
    /// Permissions of its attempts.
    pub policy: PoolPolicy,
    /// Largest capacity of one executor.
    pub max_executor: MaxExecutor,
    /// Who may use it.
    pub grants: PoolGrants,
}

/// Permissions of attempts in a pool. The default allows nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolPolicy {
    /// Whether commands can use the network.
    pub command_network: bool,
    /// Whether HTTP tasks can call private, loopback and link-local addresses.
    pub private_targets: bool,
}

/// Largest capacity of one executor in each dimension. `None` (default): no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaxExecutor {
    /// See [`Resources::cpu_millis`].
    pub cpu_millis: Option<u32>,
    /// See [`Resources::memory_mib`].
    pub memory_mib: Option<u32>,
    /// See [`Resources::disk_mib`].
    pub disk_mib: Option<u32>,
    /// See [`Resources::iops`].
    pub iops: Option<u32>,
    /// See [`Resources::ports`].
    pub ports: Option<u32>,
}

impl MaxExecutor {
    /// The largest limit that can be stored.
    pub const MOST: u32 = i32::MAX.unsigned_abs();

    /// The limit in `dimension`.
    pub const fn of_mut(&mut self, dimension: Dimension) -> &mut Option<u32> {
        match dimension {
            Dimension::CpuMillis => &mut self.cpu_millis,
            Dimension::MemoryMib => &mut self.memory_mib,
            Dimension::DiskMib => &mut self.disk_mib,
            Dimension::Iops => &mut self.iops,
            Dimension::Ports => &mut self.ports,
        }
    }

    /// The limits, in the order of [`Dimension::ALL`].
    #[must_use]
    pub const fn dimensions(self) -> [Option<u32>; 5] {
        [self.cpu_millis, self.memory_mib, self.disk_mib, self.iops, self.ports]
    }

    /// The first limit that `capacity` exceeds.
    #[must_use]
    pub fn passed_by(self, capacity: Resources) -> Option<(Dimension, u32)> {
        Dimension::ALL.into_iter().zip(self.dimensions()).find_map(|(dimension, most)| {
            most.filter(|most| dimension.of(capacity) > *most).map(|most| (dimension, most))
        })
    }
}

/// Who may use a pool; by default no tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolGrants {
    /// Every tenant.
    pub everyone: bool,
    /// The tenants on one of these plans.
    pub plans: BTreeSet<PlanName>,
    /// These tenants.
    pub tenants: BTreeSet<TenantId>,
}

/// A user of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolUser<'a> {
    /// The tenant.
    pub tenant: TenantId,
    /// Its plan.
    pub plan: &'a PlanName,
}

impl PoolGrants {
    /// Maximum of plans and tenants in a grant; for more tenants use plans.
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
    fn an_executor_may_offer_as_much_as_its_pool_says_in_each_dimension() {
        let capacity = Resources::from_dimensions([1000, 2048, 10, 0, 7]);
        assert_eq!(MaxExecutor::default().passed_by(capacity), None, "no limit");
        for dimension in Dimension::ALL {
            let has = dimension.of(capacity);
            let mut limits = MaxExecutor::default();
            *limits.of_mut(dimension) = Some(has);
            assert_eq!(limits.passed_by(capacity), None, "{dimension:?} as much as it may");
            let Some(less) = has.checked_sub(1) else { continue };
            *limits.of_mut(dimension) = Some(less);
            assert_eq!(limits.passed_by(capacity), Some((dimension, less)));
        }
    }

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
