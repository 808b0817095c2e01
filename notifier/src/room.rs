//! How many deliveries are under way: in all, and to each webhook.

use crate::metrics::IN_FLIGHT;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Tries at once of a webhook that has failures: enough to see that its receiver is back, few enough to be no burden meanwhile.
const FAILING: u32 = 4;

/// The bounds, and what is under way.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    most: u32,
    most_of_one: u32,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    all: u32,
    /// Of each webhook: tries, and the most that it may have.
    of: HashMap<Uuid, (u32, u32)>,
}

/// A delivery that is under way. Dropped, its place is free.
#[derive(Debug)]
pub(crate) struct Place {
    webhook: Uuid,
    held: Arc<Mutex<Held>>,
}

impl Room {
    pub(crate) fn new(most: u32, most_of_one: u32) -> Self {
        Self { most, most_of_one, held: Arc::default() }
    }

    /// How many more may be sent to a webhook with so many failures in a row.
    pub(crate) fn of(&self, webhook: Uuid, failures: u64) -> u32 {
        let mut held = self.held.lock();
        let most = if failures > 0 { self.most_of_one.min(FAILING) } else { self.most_of_one };
        let all = self.most.saturating_sub(held.all);
        let Some((count, present)) = held.of.get_mut(&webhook) else { return most.min(all) };
        *present = most;
        most.saturating_sub(*count).min(all)
    }

    /// Webhooks that have no room; `None`: nothing has.
    pub(crate) fn full(&self) -> Option<Vec<Uuid>> {
        let held = self.held.lock();
        if held.all >= self.most {
            return None;
        }
        let full = held.of.iter().filter(|(_, (count, most))| count >= most);
        Some(full.map(|(id, _)| *id).collect())
    }

    pub(crate) fn take(&self, webhook: Uuid) -> Place {
        let mut held = self.held.lock();
        held.all += 1;
        held.of.entry(webhook).or_insert((0, self.most_of_one)).0 += 1;
        IN_FLIGHT.set(f64::from(held.all));
        Place { webhook, held: Arc::clone(&self.held) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        held.all = held.all.saturating_sub(1);
        if let Some((count, _)) = held.of.get_mut(&self.webhook) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.of.remove(&self.webhook);
            }
        }
        IN_FLIGHT.set(f64::from(held.all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_has_its_share_and_less_while_it_fails() {
        let room = Room::new(10, 6);
        let [one, other] = [1, 2].map(Uuid::from_u128);
        assert_eq!((room.of(one, 0), room.of(one, 3)), (6, 4));
        let places: Vec<_> = (0..6).map(|_| room.take(one)).collect();
        assert_eq!((room.of(one, 0), room.of(one, 1), room.of(other, 0)), (0, 0, 4));
        assert_eq!(room.full(), Some(vec![one]));
        let more: Vec<_> = (0..4).map(|_| room.take(other)).collect();
        assert_eq!((room.of(other, 0), room.full()), (0, None));
        drop((places, more));
        let few: Vec<_> = (0..4).map(|_| room.take(one)).collect();
        assert_eq!((room.full(), room.of(one, 1)), (Some(Vec::new()), 0));
        assert_eq!(room.full(), Some(vec![one]));
        drop(few);
        assert_eq!((room.full(), room.of(one, 0)), (Some(Vec::new()), 6));
    }
}
