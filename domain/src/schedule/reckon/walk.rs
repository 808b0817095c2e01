//! Due times in sequence: only rules that were due are computed again.

use super::rule::Due;
use super::steps::{OF_STRETCH, Steps};
use super::{DueTime, Reckoner, from_micros};
use crate::time::Timestamp;

/// Due times that are looked at for one that is not excluded.
const MOST_TRIES: usize = 10_000;

/// What was found of each rule of a timing, while due times are asked for in order.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    reckoner: &'a Reckoner,
    /// Of each rule the first due time after what was asked for last, where there is one; nothing while it was not asked.
    found: Vec<Option<Option<Due>>>,
}

impl Reckoner {
    /// For many due times, one after the other.
    #[must_use]
    pub fn walk(&self) -> Walk<'_> {
        Walk { reckoner: self, found: vec![None; self.rules.len()] }
    }
}

impl Walk<'_> {
    /// The first due time strictly after `after`, as [`Reckoner::next_after`] has it. Each `after` must be later than the one before. Ends
    /// early where `steps` are out.
    pub fn next_after(&mut self, after: Timestamp, steps: &Steps) -> Option<DueTime> {
        let reckoner = self.reckoner;
        if reckoner.is_fixed_delay() {
            return reckoner.first_delayed().filter(|first| first.at > after);
        }
        let mut after = after.timestamp_micros().max(reckoner.start.saturating_sub(1));
        for _ in 0..MOST_TRIES {
            let due = self.next_of_all(after, steps)?;
            let at = from_micros(due.at).filter(|_| due.at <= reckoner.end)?;
            steps.take(OF_STRETCH + reckoner.closed.steps())?;
            match reckoner.closed.until(&reckoner.zone, due.at) {
                Some(until) => after = until - 1,
                None => {
                    return Some(DueTime { at, marks: reckoner.zone.marks(due.at, due.shifted) });
                }
            }
        }
        None
    }

    fn next_of_all(&mut self, after: i64, steps: &Steps) -> Option<Due> {
        let Reckoner { zone, rules, .. } = self.reckoner;
        for (rule, found) in rules.iter().zip(&mut self.found) {
            let is_passed = |due: Option<Due>| due.is_some_and(|due| due.at <= after);
            if found.is_none_or(is_passed) {
                let due = rule.next_after(zone, after, steps);
                if steps.is_out() {
                    return None;
                }
                *found = Some(due);
            }
        }
        let due = self.found.iter().copied().flatten().flatten();
        due.reduce(|one, other| match one.at.cmp(&other.at) {
            std::cmp::Ordering::Less => one,
            std::cmp::Ordering::Greater => other,
            std::cmp::Ordering::Equal => Due { at: one.at, shifted: one.shifted || other.shifted },
        })
    }
}
