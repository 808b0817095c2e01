//! Tasks of a tenant that start under the same conditions.
//!
//! Inside a strand tasks differ in their deadlines only, as far as it matters who may start: they need the same room, have the
//! same priority and share the same limits. So the first of a strand stands for all of it, and what cannot start now is left
//! out strand by strand, not task by task, however many tasks wait.

use super::{ConcurrencyKey, Priority};
use crate::resources::Resources;

/// Tells a tenant's strands apart. Two that collide are one: the tasks of one may then wait for those of the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strand(pub i64);

impl Strand {
    /// The strand of tasks with these conditions. It is stored with each task, so it must never change.
    #[must_use]
    pub fn of(
        resources: Resources,
        priority: Priority,
        flexible: bool,
        expire_if_late: bool,
        key: Option<&ConcurrencyKey>,
    ) -> Self {
        let mut hash = Fnv::default();
        for dimension in resources.dimensions() {
            hash.write(&dimension.to_le_bytes());
        }
        hash.write(&priority.level().to_le_bytes());
        hash.write(&[u8::from(flexible), u8::from(expire_if_late), u8::from(key.is_some())]);
        hash.write(key.map_or(&[], |key| key.0.as_bytes()));
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
        let (none, high) = (Priority::default(), Priority::new(1).unwrap());
        let key = |name: &str| ConcurrencyKey(name.into());
        let strands = [
            Strand::of(basic, none, false, false, None),
            Strand::of(Tier::Premium.resources(), none, false, false, None),
            Strand::of(basic, high, false, false, None),
            Strand::of(basic, none, true, false, None),
            Strand::of(basic, none, false, true, None),
            Strand::of(basic, none, false, false, Some(&key(""))),
            Strand::of(basic, none, false, false, Some(&key("a"))),
            Strand::of(basic, none, false, false, Some(&key("b"))),
        ];
        assert_eq!(HashSet::from(strands).len(), strands.len());
    }

    #[test]
    fn it_is_the_same_in_every_release() {
        let mut hash = Fnv::default();
        hash.write(b"foobar");
        assert_eq!(hash.0, 0x8594_4171_f739_67e8, "the vector of the RFC");
    }
}
