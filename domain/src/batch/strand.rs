//! Strands: tasks of a tenant with equal start conditions.
//!
//! Tasks of a strand need the same room and driver, have the same priority and share the same limits; they differ only in their
//! deadlines. So the first task represents the strand, and the batcher skips whole strands that cannot start, however
//! many tasks wait. Their tolerances are similar too, so the order of deadlines is nearly the order of due times, by
//! which late tasks are ordered.

use super::{ConcurrencyKey, Priority};
use crate::resources::Resources;
use crate::task::DriverName;
use std::time::Duration;

/// Hash of a strand within a tenant. Colliding strands are one: tasks of one may then wait for those of the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strand(pub i64);

/// The start conditions of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions<'a> {
    /// Its resources.
    pub resources: Resources,
    /// Its priority within its tenant.
    pub priority: Priority,
    /// Whether it is flexible.
    pub flexible: bool,
    /// Whether it expires if late.
    pub expire_if_late: bool,
    /// Its delay tolerance.
    pub tolerance: Duration,
    /// Its concurrency key.
    pub key: Option<&'a ConcurrencyKey>,
    /// Its driver; `None`: unknown.
    pub driver: Option<DriverName>,
}

impl Strand {
    /// The strand of these conditions; tolerances within a factor of two are equal. It is stored with each task: after
    /// a change of this function, equal tasks are in two strands while old ones wait.
    #[must_use]
    pub fn of(conditions: Conditions<'_>) -> Self {
        let Conditions { resources, priority, flexible, expire_if_late, tolerance, key, driver } =
            conditions;
        let mut hash = Fnv::default();
        for dimension in resources.dimensions() {
            hash.write(&dimension.to_le_bytes());
        }
        hash.write(&priority.level().to_le_bytes());
        hash.write(&[u8::from(flexible), u8::from(expire_if_late), u8::from(key.is_some())]);
        hash.write(&tolerance.as_millis().max(1).ilog2().to_le_bytes());
        hash.write(key.map_or(&[], |key| key.0.as_bytes()));
        // No key ends so: what follows is not part of it.
        hash.write(&[0]);
        hash.write(driver.as_ref().map_or("", DriverName::as_str).as_bytes());
        Self(hash.0.cast_signed())
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923): the standard library's hashes may change from release to release.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Tier;
    use std::collections::HashSet;

    #[test]
    fn each_condition_makes_another_strand() {
        let basic = Tier::Basic.resources();
        let usual = Conditions {
            resources: basic,
            priority: Priority::default(),
            flexible: false,
            expire_if_late: false,
            tolerance: Duration::from_secs(60),
            key: None,
            driver: None,
        };
        let keys = ["", "a", "b"].map(|name| ConcurrencyKey(name.into()));
        let keyed = |at: usize| Conditions { key: Some(&keys[at]), ..usual };
        let strands = [
            usual,
            Conditions { resources: Tier::Premium.resources(), ..usual },
            Conditions { priority: Priority::new(1).unwrap(), ..usual },
            Conditions { flexible: true, ..usual },
            Conditions { expire_if_late: true, ..usual },
            Conditions { tolerance: Duration::ZERO, ..usual },
            Conditions { tolerance: Duration::from_secs(120), ..usual },
            keyed(0),
            keyed(1),
            keyed(2),
            Conditions { driver: "command".parse().ok(), ..usual },
            Conditions { driver: "noop".parse().ok(), ..usual },
        ]
        .map(Strand::of);
        assert_eq!(HashSet::from(strands).len(), strands.len());
        let alike = Conditions { tolerance: Duration::from_secs(40), ..usual };
        assert_eq!(Strand::of(alike), strands[0], "about as long");
    }

    #[test]
    fn it_is_the_same_in_every_release() {
        let mut hash = Fnv::default();
        hash.write(b"foobar");
        assert_eq!(hash.0, 0x8594_4171_f739_67e8, "the vector of the RFC");
    }
}
