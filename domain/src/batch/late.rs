//! Which tasks to give up if not all can start in time.
//!
//! Earliest deadline first is best while all deadlines can be met and collapses beyond: it spends itself on tasks that are
//! about to be late, so that all become late. Moore and Hodgson ("An n job, one machine sequencing algorithm for minimizing
//! the number of late jobs", Management Science 15, 1968): go through the tasks by deadline, and whenever one could not start
//! in time, give up the longest so far. That makes the fewest late. Here the machine is the tenant's pace, and lengths are caps,
//! which is what is known of them.

use super::{Candidate, Turn};
use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Of `waiting`, in their order, the turns of those that should be late so that the fewest are; `rate` is in seconds of
/// cap a second. A low priority is given up before a high one.
pub(super) fn given_up<'a>(
    now: Timestamp,
    rate: f64,
    waiting: impl Iterator<Item = &'a Candidate>,
) -> Vec<Turn> {
    let mut given_up = Vec::new();
    let mut kept = BinaryHeap::new();
    let mut before_s = 0.0;
    for candidate in waiting {
        let left_s = (candidate.start_deadline - now).as_seconds_f64();
        if left_s < 0.0 {
            given_up.push(candidate.turn());
            continue;
        }
        kept.push((Reverse(candidate.priority), candidate.cap, candidate.turn()));
        let mut own_s = candidate.cap.as_secs_f64();
        while before_s > left_s * rate {
            let Some((_, cap, turn)) = kept.pop() else { break };
            given_up.push(turn);
            if turn == candidate.turn() {
                own_s = 0.0;
                break;
            }
            before_s -= cap.as_secs_f64();
        }
        before_s += own_s;
    }
    given_up
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{at, task};
    use super::*;
    use crate::batch::Priority;
    use proptest::prelude::*;
    use std::time::Duration;

    fn with_cap(number: u128, deadline_s: i64, cap_s: u64) -> Candidate {
        Candidate { cap: Duration::from_secs(cap_s), ..task(1, number, deadline_s) }
    }

    /// How many start late when they go in the order of `turns` at one second of cap a second.
    fn late<'a>(order: impl Iterator<Item = &'a Candidate>) -> usize {
        let mut clock = at(0);
        let starts_late = |candidate: &&Candidate| {
            let start = clock;
            clock += candidate.cap;
            start > candidate.start_deadline
        };
        order.filter(starts_late).count()
    }

    #[test]
    fn what_can_all_start_in_time_is_all_kept() {
        let all = [with_cap(1, 0, 5), with_cap(2, 5, 3), with_cap(3, 8, 9)];
        assert!(given_up(at(0), 1.0, all.iter()).is_empty());
        assert!(given_up(at(60_000), f64::INFINITY, [with_cap(1, 70, 5)].iter()).is_empty());
    }

    #[test]
    fn the_longest_of_the_lowest_priority_is_given_up_first() {
        let mut all = [with_cap(1, 1, 9), with_cap(2, 2, 5), with_cap(3, 5, 1), with_cap(4, 6, 1)];
        assert_eq!(given_up(at(0), 1.0, all.iter()), [all[0].turn()]);
        for candidate in &mut all[2..] {
            candidate.start_deadline += Duration::from_secs(60);
        }
        all[0].priority = Priority::new(1).unwrap();
        all.sort_by_key(Candidate::turn);
        let of = given_up(at(0), 1.0, all.iter());
        assert_eq!(of.iter().map(|turn| turn.1).collect::<Vec<_>>(), [all[1].task]);
    }

    proptest! {
        /// Against trying all orders: with deadlines to start, one is given up too many at most.
        #[test]
        fn it_is_close_to_the_fewest_that_must_be_late(tasks in proptest::collection::vec((0i64..12, 1u64..6), 1..6)) {
            let mut all: Vec<_> = tasks.iter().enumerate().map(|(n, (deadline, cap))| with_cap(n as u128, *deadline, *cap)).collect();
            all.sort_by_key(Candidate::turn);
            let up = given_up(at(0), 1.0, all.iter());
            let kept: Vec<_> = all.iter().filter(|c| !up.contains(&c.turn())).collect();
            prop_assert_eq!(late(kept.iter().copied()), 0, "what is kept starts in time");
            prop_assert!(up.len() <= fewest(&all) + 1, "{} of {}", up.len(), fewest(&all));
        }
    }

    /// The fewest that are late over all orders.
    fn fewest(all: &[Candidate]) -> usize {
        fn best(order: &mut Vec<Candidate>, fixed: usize) -> usize {
            if fixed == order.len() {
                return late(order.iter());
            }
            let rest = fixed..order.len();
            rest.map(|at| {
                order.swap(fixed, at);
                let found = best(order, fixed + 1);
                order.swap(fixed, at);
                found
            })
            .min()
            .unwrap_or_default()
        }
        best(&mut all.to_vec(), 0)
    }
}
