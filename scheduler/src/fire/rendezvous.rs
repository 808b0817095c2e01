//! Rendezvous hashing: each shard belongs to the live scheduler with the highest score for it.
//!
//! All schedulers compute the same result from the same list. When one joins or leaves, only its own shards move.

use domain::id::NodeId;

/// The `shards` of `node` among `nodes`.
pub(super) fn wanted(node: NodeId, nodes: &[NodeId], shards: &[i16]) -> Vec<i16> {
    let owner = |shard: i16| nodes.iter().max_by_key(|other| (score(**other, shard), **other));
    shards.iter().copied().filter(|shard| owner(*shard) == Some(&node)).collect()
}

/// Even and independent: a mixed hash of both.
fn score(node: NodeId, shard: i16) -> u64 {
    let id = node.uuid().as_u128();
    let folded = (id >> 64) as u64 ^ id as u64;
    mixed(folded ^ mixed(u64::from(shard.unsigned_abs())))
}

/// The finalizer of splitmix64.
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shard_has_one_owner_and_only_those_of_who_goes_move() {
        let shards: Vec<i16> = (0..256).collect();
        let nodes: Vec<_> = (0..5).map(|_| NodeId(uuid::Uuid::new_v4())).collect();
        let of = |node: NodeId, nodes: &[NodeId]| wanted(node, nodes, &shards);
        let mut all: Vec<_> = nodes.iter().flat_map(|node| of(*node, &nodes)).collect();
        all.sort_unstable();
        assert_eq!(all, shards);
        let left = &nodes[1..];
        for node in left {
            let before = of(*node, &nodes);
            let after = of(*node, left);
            assert!(before.iter().all(|shard| after.contains(shard)));
        }
    }

    #[test]
    fn no_scheduler_owns_far_more_than_its_part() {
        let shards: Vec<i16> = (0..1024).collect();
        let nodes: Vec<_> = (0..4).map(|_| NodeId::fresh()).collect();
        for node in &nodes {
            let owned = wanted(*node, &nodes, &shards).len();
            assert!((180..=340).contains(&owned), "{owned} of 1024 among 4");
        }
    }
}
