//! Hints in hand, and the deliveries they came in.
//!
//! A delivery is acked when each of its hints has come to an end here: granted, found stale, or given
//! back. Dropped without that (this process dies, a claim fails), it goes back to the queue by itself.

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

/// All hints in hand.
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

    /// Takes out those at the given places.
    pub(super) fn remove(&mut self, mut places: Vec<usize>) -> Vec<Waiting> {
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.into_iter().map(|at| self.waiting.swap_remove(at)).collect()
    }

    /// These came to an end: their deliveries may be done with.
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

    /// Everything goes back to the queue.
    pub(super) fn let_go(&mut self) {
        self.waiting.clear();
        self.deliveries.clear();
    }
}
