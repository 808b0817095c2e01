//! Hints held by a worker, and their deliveries.
//!
//! A delivery is acked when each of its hints is settled: granted, stale, or returned. If it is dropped before (this
//! process dies, a claim fails), it is requeued.

use bus::{Delivery, Hint};
use runtime::clock::Instant;
use std::collections::HashMap;

/// A hint that waits for room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub hint: Hint,
    pub since: Instant,
    delivery: u64,
}

/// All held hints.
#[derive(Default)]
pub(super) struct InHand {
    pub waiting: Vec<Waiting>,
    deliveries: HashMap<u64, (Delivery, usize)>,
    next: u64,
}

impl InHand {
    pub(super) fn take(&mut self, delivery: Delivery, now: Instant) {
        let hints = delivery.batch().hints.clone();
        if hints.is_empty() {
            delivery.ack();
            return;
        }
        self.next += 1;
        let id = self.next;
        self.waiting.extend(hints.iter().map(|hint| Waiting {
            hint: *hint,
            since: now,
            delivery: id,
        }));
        self.deliveries.insert(id, (delivery, hints.len()));
    }

    /// Removes those at the given indices. The others keep their dispatch order; else a hint in the middle would wait
    /// until there is room for all.
    pub(super) fn remove(&mut self, mut indices: Vec<usize>) -> Vec<Waiting> {
        indices.sort_unstable();
        let (mut indices, mut at) = (indices.into_iter().peekable(), 0);
        self.waiting
            .extract_if(.., |_| {
                at += 1;
                indices.next_if_eq(&(at - 1)).is_some()
            })
            .collect()
    }

    /// Settles hints and acks deliveries without open hints.
    pub(super) fn ended(&mut self, ended: &[Waiting]) {
        for waiting in ended {
            if let Some((_, left)) = self.deliveries.get_mut(&waiting.delivery) {
                *left -= 1;
                if *left == 0
                    && let Some((delivery, _)) = self.deliveries.remove(&waiting.delivery)
                {
                    delivery.ack();
                }
            }
        }
    }

    /// Requeues everything.
    pub(super) fn let_go(&mut self) {
        self.waiting.clear();
        self.deliveries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::epoch::Epoch;
    use domain::id::{TaskId, TenantId};
    use domain::resources::Tier;
    use domain::task::Dispatch;

    #[test]
    fn what_is_taken_out_leaves_the_others_in_the_order_of_their_turns() {
        let (tenant, since) = (TenantId::fresh(), runtime::clock::monotonic());
        let waiting = |number| Waiting {
            hint: Hint {
                dispatch: Dispatch {
                    tenant,
                    task: TaskId(uuid::Uuid::from_u128(number)),
                    epoch: Epoch(1),
                },
                resources: Tier::Basic.resources(),
                start_deadline_unix_ms: 0,
                driver: None,
            },
            since,
            delivery: 1,
        };
        let numbers = |some: &[Waiting]| -> Vec<u128> {
            some.iter().map(|waiting| waiting.hint.dispatch.task.uuid().as_u128()).collect()
        };
        let mut in_hand = InHand { waiting: (0..8).map(waiting).collect(), ..InHand::default() };
        assert_eq!(numbers(&in_hand.remove(vec![4, 0, 1])), [0, 1, 4]);
        assert_eq!(numbers(&in_hand.waiting), [2, 3, 5, 6, 7]);
        assert_eq!(numbers(&in_hand.remove(vec![4])), [7]);
        assert!(in_hand.remove(Vec::new()).is_empty());
        assert_eq!(numbers(&in_hand.remove(vec![0, 1, 2, 3])), [2, 3, 5, 6]);
        assert!(in_hand.waiting.is_empty());
    }
}
