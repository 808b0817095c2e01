//! Estimates of run times, from finished tasks of the same tenant and name.
//!
//! In memory of the active batcher, and bounded: unused entries are dropped. A wrong estimate has no lasting effect,
//! because charges are corrected (see [`super::Charges`]).

use crate::id::TenantId;
use std::collections::HashMap;
use std::time::Duration;

/// Estimate without history.
const FIRST: Duration = Duration::from_secs(1);
/// Weight of the newest value in the average.
const NEWEST: f64 = 0.1;
/// Names in one of the two generations.
const GENERATION: usize = 50_000;

/// A task's name, hashed. Two names that collide share an average, and nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NameKey(pub u64);

/// Moving averages by tenant and name. A name is dropped after 50 000 others.
#[derive(Debug, Clone, Default)]
pub struct Estimates {
    young: HashMap<(TenantId, NameKey), f64>,
    old: HashMap<(TenantId, NameKey), f64>,
}

impl Estimates {
    /// Expected run time: the average, or 1 s without history; at most its cap.
    #[must_use]
    pub fn expected(&self, tenant: TenantId, name: NameKey, cap: Duration) -> Duration {
        let key = (tenant, name);
        let average = self.young.get(&key).or_else(|| self.old.get(&key));
        average.map_or(FIRST, |seconds| Duration::from_secs_f64(*seconds)).min(cap)
    }

    /// Adds a run time.
    pub fn ended(&mut self, tenant: TenantId, name: NameKey, used: Duration) {
        let (key, used) = ((tenant, name), used.as_secs_f64());
        let known = self.young.get(&key).or_else(|| self.old.get(&key)).copied();
        if self.young.len() == GENERATION && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, known.map_or(used, |average| average + NEWEST * (used - average)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const A: NameKey = NameKey(1);
    const B: NameKey = NameKey(2);
    const CAP: Duration = Duration::from_secs(60);

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    #[test]
    fn nothing_known_is_a_second_or_the_cap() {
        let estimates = Estimates::default();
        assert_eq!(estimates.expected(tenant(1), A, CAP), FIRST);
        let short = Duration::from_millis(100);
        assert_eq!(estimates.expected(tenant(1), A, short), short);
    }

    #[test]
    fn an_average_is_learnt_for_one_tenant_and_name_and_never_passes_the_cap() {
        let mut estimates = Estimates::default();
        estimates.ended(tenant(1), A, Duration::from_secs(20));
        for _ in 0..100 {
            estimates.ended(tenant(1), A, Duration::from_secs(10));
        }
        let learnt = estimates.expected(tenant(1), A, CAP).as_secs_f64();
        assert!((learnt - 10.0).abs() < 0.01, "{learnt}");
        assert_eq!(estimates.expected(tenant(1), B, CAP), FIRST);
        assert_eq!(estimates.expected(tenant(2), A, CAP), FIRST);
        assert_eq!(estimates.expected(tenant(1), A, FIRST * 3), FIRST * 3);
    }

    #[test]
    fn memory_is_bounded_and_what_is_used_stays() {
        let mut estimates = Estimates::default();
        for n in 0..3 * GENERATION as u64 {
            estimates.ended(tenant(1), NameKey(n), FIRST * 2);
            estimates.ended(tenant(1), NameKey(0), FIRST * 2);
        }
        assert!(estimates.young.len() + estimates.old.len() <= 2 * GENERATION);
        assert_eq!(estimates.expected(tenant(1), NameKey(0), CAP), FIRST * 2);
        assert_eq!(estimates.expected(tenant(1), NameKey(1), CAP), FIRST);
    }
}
