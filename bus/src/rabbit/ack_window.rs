//! Turns settled deliveries into as few AMQP acknowledgements as are safe.
//!
//! Used by each consuming channel. The rule: a multiple ack may name tag `t` only when every tag up
//! to `t` is settled here, and `t` itself is still open at the broker; otherwise it would ack a
//! hint that nobody placed, or close the channel (406, unknown delivery tag).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How a delivery was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settlement {
    /// It is done.
    Ack,
    /// It is not done: the broker may deliver it to another consumer.
    Requeue,
}

/// One AMQP acknowledgement; the number is the delivery tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Ack(u64),
    AckUpTo(u64),
    Requeue(u64),
}

/// The settled deliveries of one channel. Its tags count up from 1 without gaps.
#[derive(Debug, Default)]
pub(crate) struct AckWindow {
    /// Everything up to this tag is settled at the broker.
    floor: u64,
    /// Settled tags above the floor; `None` once the command was taken.
    above: BTreeMap<u64, Option<Settlement>>,
}

impl AckWindow {
    /// Records how `tag` was settled. A second settlement of the same tag is ignored.
    pub(crate) fn settle(&mut self, tag: u64, settlement: Settlement) {
        if tag <= self.floor {
            return;
        }
        if let Entry::Vacant(slot) = self.above.entry(tag) {
            slot.insert(Some(settlement));
        }
    }

    /// The commands to send to the broker now, in this order.
    pub(crate) fn take_commands(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        // Requeues first: a multiple ack sent before one would take its tag along.
        for (tag, state) in &mut self.above {
            if *state == Some(Settlement::Requeue) {
                *state = None;
                commands.push(Command::Requeue(*tag));
            }
        }
        let (mut last, mut count) = (0, 0);
        while let Some(state) = self.above.remove(&(self.floor + 1)) {
            self.floor += 1;
            if state.is_some() {
                last = self.floor;
                count += 1;
            }
        }
        match count {
            0 => {}
            1 => commands.push(Command::Ack(last)),
            _ => commands.push(Command::AckUpTo(last)),
        }
        for (tag, state) in &mut self.above {
            if state.take().is_some() {
                commands.push(Command::Ack(*tag));
            }
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::Command::{Ack, AckUpTo, Requeue};
    use super::*;
    use std::collections::BTreeSet;

    fn settled(window: &mut AckWindow, tags: &[u64]) -> Vec<Command> {
        for tag in tags {
            window.settle(*tag, Settlement::Ack);
        }
        window.take_commands()
    }

    #[test]
    fn a_row_of_acks_is_one_command() {
        let mut window = AckWindow::default();
        assert_eq!(settled(&mut window, &[3, 1, 2]), [AckUpTo(3)]);
        assert_eq!(settled(&mut window, &[4]), [Ack(4)]);
        assert_eq!(settled(&mut window, &[]), []);
    }

    #[test]
    fn nothing_open_is_acked_along() {
        let mut window = AckWindow::default();
        assert_eq!(settled(&mut window, &[2, 3]), [Ack(2), Ack(3)]);
        assert_eq!(settled(&mut window, &[1]), [Ack(1)]);
        assert_eq!(settled(&mut window, &[4, 5]), [AckUpTo(5)]);
    }

    #[test]
    fn what_goes_back_is_never_acked() {
        let mut window = AckWindow::default();
        window.settle(2, Settlement::Requeue);
        assert_eq!(settled(&mut window, &[1, 3, 4]), [Requeue(2), AckUpTo(4)]);
        window.settle(6, Settlement::Requeue);
        assert_eq!(settled(&mut window, &[5]), [Requeue(6), Ack(5)]);
        assert_eq!(settled(&mut window, &[7]), [Ack(7)]);
    }

    #[test]
    fn a_tag_is_settled_once() {
        let mut window = AckWindow::default();
        assert_eq!(settled(&mut window, &[1, 1]), [Ack(1)]);
        window.settle(1, Settlement::Requeue);
        assert_eq!(window.take_commands(), []);
    }

    /// A broker's view of the channel: refuses a tag that is not open.
    fn apply(open: &mut BTreeSet<u64>, commands: &[Command]) -> Vec<u64> {
        let mut requeued = Vec::new();
        for command in commands {
            match *command {
                Ack(tag) => assert!(open.remove(&tag), "unknown tag {tag}"),
                Requeue(tag) => {
                    assert!(open.remove(&tag), "unknown tag {tag}");
                    requeued.push(tag);
                }
                AckUpTo(tag) => {
                    assert!(open.contains(&tag), "unknown tag {tag}");
                    *open = open.split_off(&(tag + 1));
                }
            }
        }
        requeued
    }

    #[test]
    fn each_tag_is_settled_once_in_any_order_and_grouping() {
        for seed in 0..200_u64 {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut random = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % below
            };
            let mut tags: Vec<u64> = (1..=60).collect();
            for i in (1..tags.len()).rev() {
                tags.swap(i, usize::try_from(random(i as u64 + 1)).unwrap());
            }
            let (mut window, mut open) = (AckWindow::default(), (1..=60).collect::<BTreeSet<_>>());
            let (mut to_requeue, mut requeued) = (BTreeSet::new(), BTreeSet::new());
            for tag in &tags {
                let back = random(5) == 0;
                if back {
                    to_requeue.insert(*tag);
                }
                window.settle(*tag, if back { Settlement::Requeue } else { Settlement::Ack });
                if random(3) == 0 {
                    requeued.extend(apply(&mut open, &window.take_commands()));
                }
            }
            requeued.extend(apply(&mut open, &window.take_commands()));
            assert!(open.is_empty() && window.above.is_empty(), "seed {seed}");
            assert_eq!(requeued, to_requeue, "seed {seed}");
        }
    }
}
