//! Sizes without room in a pool, where some are so only for one driver.
//!
//! Executors of a pool may offer different drivers. Where those of one driver are full, tasks of the others go on.

use super::Shapes;
use crate::resources::Resources;
use crate::task::DriverName;
use std::collections::BTreeMap;

/// Sizes without room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacks {
    any: Shapes,
    by_driver: BTreeMap<DriverName, Shapes>,
}

impl Lacks {
    /// True where there is room for each size.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.by_driver.is_empty()
    }

    /// Sizes without room whatever the driver.
    #[must_use]
    pub const fn any(&self) -> &Shapes {
        &self.any
    }

    /// Further sizes without room for tasks of one driver.
    #[must_use]
    pub const fn by_driver(&self) -> &BTreeMap<DriverName, Shapes> {
        &self.by_driver
    }

    /// The minimal members, with the driver that they are limited to.
    pub fn least(&self) -> impl Iterator<Item = (Option<DriverName>, Resources)> {
        let any = self.any.least().iter().map(|size| (None, *size));
        any.chain(
            self.by_driver.iter().flat_map(|(driver, shapes)| {
                shapes.least().iter().map(|size| (Some(*driver), *size))
            }),
        )
    }

    /// True where a task of `driver` and of this `size` has no room.
    #[must_use]
    pub fn covers(&self, driver: Option<DriverName>, size: Resources) -> bool {
        self.any.covers(size) || self.of(driver).is_some_and(|shapes| shapes.covers(size))
    }

    /// True where one more size of a task of `driver` displaces another.
    #[must_use]
    pub fn is_full(&self, driver: Option<DriverName>) -> bool {
        let full = |shapes: &Shapes| shapes.least().len() == Shapes::MOST;
        full(&self.any) || self.of(driver).is_some_and(full)
    }

    /// Adds `size` and everything larger; for all tasks, or for those of one driver.
    pub fn add(&mut self, driver: Option<DriverName>, size: Resources) {
        if self.covers(driver, size) {
            return;
        }
        match driver {
            None => self.any.add(size),
            Some(driver) => self.by_driver.entry(driver).or_default().add(size),
        }
    }

    /// Removes minimal members for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(Option<DriverName>, &Resources) -> bool) {
        self.any.retain(|size| keep(None, size));
        for (driver, shapes) in &mut self.by_driver {
            shapes.retain(|size| keep(Some(*driver), size));
        }
        self.by_driver.retain(|_, shapes| !shapes.is_empty());
    }

    /// What both cover.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self { any: self.any.intersection(&other.any), ..Self::default() };
        for driver in self.by_driver.keys().chain(other.by_driver.keys()) {
            let all = |lacks: &Self| -> Shapes {
                let of = lacks.of(Some(*driver)).into_iter().flat_map(Shapes::least);
                lacks.any.least().iter().chain(of).copied().collect()
            };
            for size in all(self).intersection(&all(other)).least() {
                both.add(Some(*driver), *size);
            }
        }
        both
    }

    fn of(&self, driver: Option<DriverName>) -> Option<&Shapes> {
        self.by_driver.get(&driver?)
    }
}

/// Whatever the driver.
impl FromIterator<Resources> for Lacks {
    fn from_iter<I: IntoIterator<Item = Resources>>(sizes: I) -> Self {
        sizes.into_iter().map(|size| (None, size)).collect()
    }
}

impl FromIterator<(Option<DriverName>, Resources)> for Lacks {
    fn from_iter<I: IntoIterator<Item = (Option<DriverName>, Resources)>>(sizes: I) -> Self {
        let mut lacks = Self::default();
        sizes.into_iter().for_each(|(driver, size)| lacks.add(driver, size));
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(cpu_millis: u32) -> Resources {
        Resources { cpu_millis, ..Resources::default() }
    }

    fn driver(number: u8) -> Option<DriverName> {
        ["a", "b"].get(usize::from(number)).map(|name| name.parse().unwrap())
    }

    #[test]
    fn what_one_driver_lacks_holds_back_no_other() {
        let mut lacks: Lacks = [(driver(0), size(2)), (None, size(9))].into_iter().collect();
        assert!(lacks.covers(driver(0), size(2)) && !lacks.covers(driver(1), size(2)));
        assert!(!lacks.covers(None, size(2)) && lacks.covers(driver(1), size(9)));
        lacks.add(driver(1), size(9));
        assert_eq!(lacks.by_driver().len(), 1, "all of that size lack room");
        lacks.retain(|driver, _| driver.is_none());
        assert_eq!(lacks.least().collect::<Vec<_>>(), [(None, size(9))]);
        lacks.retain(|_, _| false);
        assert!(lacks.is_empty());
    }

    proptest! {
        #[test]
        fn an_intersection_covers_what_both_cover(a in proptest::collection::vec((0u8..3, 0u32..6), 0..5), b in proptest::collection::vec((0u8..3, 0u32..6), 0..5)) {
            let [a, b]: [Lacks; 2] = [a, b].map(|all| {
                all.into_iter().map(|(number, cpu)| (driver(number), size(cpu))).collect()
            });
            let both = a.intersection(&b);
            for number in 0..3 {
                for cpu in 0..7 {
                    let (driver, size) = (driver(number), size(cpu));
                    let each = a.covers(driver, size) && b.covers(driver, size);
                    prop_assert_eq!(both.covers(driver, size), each);
                }
            }
        }
    }
}
