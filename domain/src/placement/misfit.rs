//! Why a task fits none of a pool's executors, even if idle.
//!
//! Used at submit for a warning. Executors join and leave, so the result is valid only now.

use crate::resources::{Dimension, Resources};

/// Why no executor of a pool is large enough for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// There is no executor.
    NoExecutor,
    /// Each has too little in this dimension.
    TooLarge {
        /// The first dimension in which the task exceeds all executors.
        dimension: Dimension,
        /// Requested amount.
        asked: u32,
        /// Largest capacity of an executor.
        largest: u32,
    },
    /// Each dimension fits some executor, but no executor fits all.
    NotTogether,
}

/// Why a task of this `size` fits none of `executors`, given by their capacities; `None` if it fits one.
#[must_use]
pub fn misfit(size: Resources, executors: &[Resources]) -> Option<Misfit> {
    if executors.is_empty() {
        return Some(Misfit::NoExecutor);
    }
    if executors.iter().any(|all| size.fits_in(*all)) {
        return None;
    }
    let most = |d: &Dimension| executors.iter().map(|all| d.of(*all)).max().unwrap_or(0);
    let dimension = Dimension::ALL.into_iter().find(|d| d.of(size) > most(d));
    Some(dimension.map_or(Misfit::NotTogether, |dimension| Misfit::TooLarge {
        dimension,
        asked: dimension.of(size),
        largest: most(&dimension),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(cpu_millis: u32, memory_mib: u32) -> Resources {
        Resources { cpu_millis, memory_mib, ..Resources::default() }
    }

    #[test]
    fn a_task_that_fits_no_executor_is_told_what_is_missing() {
        let executors = [size(4000, 512), size(1000, 8192)];
        assert_eq!(misfit(size(1, 1), &[]), Some(Misfit::NoExecutor));
        assert_eq!(misfit(size(4000, 512), &executors), None);
        let (dimension, asked, largest) = (Dimension::MemoryMib, 8193, 8192);
        let too_large = Misfit::TooLarge { dimension, asked, largest };
        assert_eq!(misfit(size(1, 8193), &executors), Some(too_large));
        assert_eq!(misfit(size(2000, 2048), &executors), Some(Misfit::NotTogether));
        let ports = Resources { ports: 1, ..size(1, 1) };
        let (dimension, asked, largest) = (Dimension::Ports, 1, 0);
        let too_large = Misfit::TooLarge { dimension, asked, largest };
        assert_eq!(misfit(ports, &executors), Some(too_large));
    }

    proptest! {
        #[test]
        fn it_fits_where_one_executor_has_all_of_it(
            need in proptest::array::uniform5(0u32..4),
            executors in proptest::collection::vec(proptest::array::uniform5(0u32..4), 0..5),
        ) {
            let executors: Vec<_> = executors.into_iter().map(Resources::from_dimensions).collect();
            let need = Resources::from_dimensions(need);
            let fits = executors.iter().any(|all| need.fits_in(*all));
            prop_assert_eq!(misfit(need, &executors).is_none(), fits);
        }
    }
}
