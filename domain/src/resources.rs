//! Resource vectors of tasks and executors, in five dimensions.
//!
//! A tier is a name for a vector. All arithmetic is in checked integers, so that never more is granted than the
//! capacity.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A resource vector: a task's demand or an executor's capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Thousandths of a core.
    pub cpu_millis: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Disk in MiB.
    pub disk_mib: u32,
    /// Disk operations per second.
    pub iops: u32,
    /// TCP ports, given as one contiguous block.
    pub ports: u32,
}

/// One of the five dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// See [`Resources::cpu_millis`].
    CpuMillis,
    /// See [`Resources::memory_mib`].
    MemoryMib,
    /// See [`Resources::disk_mib`].
    DiskMib,
    /// See [`Resources::iops`].
    Iops,
    /// See [`Resources::ports`].
    Ports,
}

impl Dimension {
    /// All of them, in the order of [`Resources::dimensions`].
    pub const ALL: [Self; 5] =
        [Self::CpuMillis, Self::MemoryMib, Self::DiskMib, Self::Iops, Self::Ports];

    /// Its name in JSON, SQL and messages: the field of [`Resources`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        Resources::DIMENSIONS[self as usize]
    }

    /// The figure of `resources` in this dimension.
    #[must_use]
    pub const fn of(self, resources: Resources) -> u32 {
        resources.dimensions()[self as usize]
    }
}

/// A named resource vector.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 0.25 core, 512 MiB, 1 GiB disk, 50 IOPS, 1 port.
    Basic,
    /// 1 core, 2 GiB, 5 GiB disk, 200 IOPS, 2 ports.
    Regular,
    /// 4 cores, 8 GiB, 20 GiB disk, 1000 IOPS, 4 ports.
    Premium,
}

impl Tier {
    /// Every tier, smallest first.
    pub const ALL: [Self; 3] = [Self::Basic, Self::Regular, Self::Premium];

    /// The vector this tier stands for.
    #[must_use]
    pub const fn resources(self) -> Resources {
        match self {
            Self::Basic => {
                Resources { cpu_millis: 250, memory_mib: 512, disk_mib: 1024, iops: 50, ports: 1 }
            }
            Self::Regular => Resources {
                cpu_millis: 1000,
                memory_mib: 2048,
                disk_mib: 5120,
                iops: 200,
                ports: 2,
            },
            Self::Premium => Resources {
                cpu_millis: 4000,
                memory_mib: 8192,
                disk_mib: 20_480,
                iops: 1000,
                ports: 4,
            },
        }
    }

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text is no tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected basic, regular or premium")]
pub struct ParseTierError;

impl FromStr for Tier {
    type Err = ParseTierError;

    fn from_str(text: &str) -> Result<Self, ParseTierError> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == text).ok_or(ParseTierError)
    }
}

impl Resources {
    /// Names of the dimensions, in the order of [`Self::dimensions`].
    pub const DIMENSIONS: [&'static str; 5] =
        ["cpu_millis", "memory_mib", "disk_mib", "iops", "ports"];

    /// The five figures in a fixed order.
    #[must_use]
    pub const fn dimensions(self) -> [u32; 5] {
        [self.cpu_millis, self.memory_mib, self.disk_mib, self.iops, self.ports]
    }

    /// From the five figures in the order of [`Self::dimensions`].
    #[must_use]
    pub const fn from_dimensions(d: [u32; 5]) -> Self {
        Self { cpu_millis: d[0], memory_mib: d[1], disk_mib: d[2], iops: d[3], ports: d[4] }
    }

    /// True when every dimension of `self` is at most that of `free`.
    #[must_use]
    pub fn fits_in(self, free: Self) -> bool {
        self.dimensions().iter().zip(free.dimensions()).all(|(need, have)| *need <= have)
    }

    /// Sum, or `None` where a dimension would overflow.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.combine(other, u32::checked_add)
    }

    /// Difference, or `None` where a dimension would go below 0.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.combine(other, u32::checked_sub)
    }

    /// Sum, with the largest number as the ceiling of each dimension.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let (a, b) = (self.dimensions(), other.dimensions());
        Self::from_dimensions(std::array::from_fn(|i| a[i].saturating_add(b[i])))
    }

    /// Difference, with 0 as the floor of each dimension.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        let (a, b) = (self.dimensions(), other.dimensions());
        Self::from_dimensions(std::array::from_fn(|i| a[i].saturating_sub(b[i])))
    }

    /// The larger of both in each dimension.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let (a, b) = (self.dimensions(), other.dimensions());
        Self::from_dimensions(std::array::from_fn(|i| a[i].max(b[i])))
    }

    /// The largest of the five shares `self / capacity`, in 0.0 upwards; infinite where the
    /// capacity lacks a wanted dimension. (Dominant share, from DRF: Ghodsi et al., NSDI 2011.)
    #[must_use]
    pub fn dominant_share(self, capacity: Self) -> f64 {
        let share = |(need, have): (&u32, u32)| match (*need, have) {
            (0, _) => 0.0,
            (_, 0) => f64::INFINITY,
            (need, have) => f64::from(need) / f64::from(have),
        };
        self.dimensions().iter().zip(capacity.dimensions()).map(share).fold(0.0, f64::max)
    }

    /// How many basic tasks' room this takes: the largest dimension in basic units, rounded up, at least 1.
    #[must_use]
    pub fn slots(self) -> u32 {
        let basic = Tier::Basic.resources().dimensions();
        let units =
            self.dimensions().into_iter().zip(basic).map(|(need, unit)| need.div_ceil(unit));
        units.max().unwrap_or(1).max(1)
    }

    /// How many basic tasks' room this is, free on an executor that has `capacity` in all.
    ///
    /// It is counted over what the executor has. Each task takes cpu and memory; of the rest some take nothing. So a dimension of which
    /// the executor has less than a basic task takes limits nobody here, and one that is used up leaves room for one task at a time:
    /// whoever asks for it finds none, and others do.
    #[must_use]
    pub fn free_slots(self, capacity: Self) -> u32 {
        let (free, all) = (self.dimensions(), capacity.dimensions());
        let basic = Tier::Basic.resources().dimensions();
        // Of what is smaller than a basic task one at a time may use the rest.
        let units = |d: usize| {
            if all[d] < basic[d] { u32::from(free[d] > 0) } else { free[d] / basic[d] }
        };
        let (asked_by_all, asked_by_some) = (0..Self::ASKED_BY_ALL, Self::ASKED_BY_ALL..5);
        let each = asked_by_all.map(units).min().unwrap_or(0);
        let some = asked_by_some.filter(|d| all[*d] >= basic[*d]).map(units).min();
        each.min(some.unwrap_or(u32::MAX).max(1))
    }

    /// The first so many dimensions, cpu and memory, are asked for by each task.
    const ASKED_BY_ALL: usize = 2;

    fn combine(self, other: Self, op: fn(u32, u32) -> Option<u32>) -> Option<Self> {
        let (a, b) = (self.dimensions(), other.dimensions());
        let mut out = [0; 5];
        for (i, slot) in out.iter_mut().enumerate() {
            *slot = op(a[i], b[i])?;
        }
        Some(Self::from_dimensions(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_resources() -> impl Strategy<Value = Resources> {
        proptest::array::uniform5(0u32..1_000_000).prop_map(Resources::from_dimensions)
    }

    #[test]
    fn a_basic_task_takes_one_slot_and_a_premium_one_more() {
        assert_eq!(Tier::Basic.resources().slots(), 1);
        assert_eq!(Tier::Premium.resources().slots(), 20);
        assert_eq!(Resources::default().slots(), 1);
        assert_eq!(Tier::Premium.resources().free_slots(Tier::Premium.resources()), 4);
    }

    #[test]
    fn room_is_counted_over_what_an_executor_has() {
        let all = Tier::Premium.resources();
        assert_eq!(all.free_slots(all), 4, "by its ports");
        for (lacking, slots) in [
            (Resources { ports: 0, ..all }, 16),
            (Resources { ports: 0, iops: 49, disk_mib: 1023, ..all }, 16),
            (Resources { cpu_millis: 100, ..all }, 1),
            (Resources { memory_mib: 0, ..all }, 0),
        ] {
            assert_eq!(lacking.free_slots(lacking), slots, "{lacking:?}");
        }
        let ports_used_up = Resources { ports: 0, ..all };
        assert_eq!(ports_used_up.free_slots(all), 1, "who asks for none may still start");
        let cpu_used_up = Resources { cpu_millis: 249, ..all };
        assert_eq!(cpu_used_up.free_slots(all), 0);
        assert_eq!(Resources::default().free_slots(Resources::default()), 0);
    }

    #[test]
    fn each_dimension_is_called_as_its_field_and_gives_its_figure() {
        let resources = Resources::from_dimensions([1, 2, 3, 4, 5]);
        let json = serde_json::to_value(resources).unwrap();
        for dimension in Dimension::ALL {
            assert_eq!(json[dimension.as_str()], dimension.of(resources));
            assert_eq!(serde_json::to_value(dimension).unwrap(), dimension.as_str());
        }
    }

    #[test]
    fn a_wanted_dimension_that_is_absent_has_an_infinite_share() {
        let no_ports = Resources { ports: 0, ..Tier::Premium.resources() };
        assert!(Tier::Basic.resources().dominant_share(no_ports).is_infinite());
    }

    proptest! {
        #[test]
        fn what_was_taken_can_be_given_back(have in any_resources(), need in any_resources()) {
            match have.checked_sub(need) {
                Some(rest) => {
                    prop_assert!(need.fits_in(have));
                    prop_assert_eq!(rest.checked_add(need), Some(have));
                }
                None => prop_assert!(!need.fits_in(have)),
            }
        }

        #[test]
        fn what_fits_has_a_share_of_at_most_one(have in any_resources(), need in any_resources()) {
            prop_assert_eq!(need.fits_in(have), need.dominant_share(have) <= 1.0);
        }
    }
}
