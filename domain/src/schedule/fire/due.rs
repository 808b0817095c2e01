//! The due times that have come, and which of them are overdue.

use super::Misfire;
use super::decide::{MOST_ROWS, Next, Situation, fire_at};
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// A due time that has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub at: Timestamp,
    /// How long ago it should have fired.
    pub age: Duration,
    pub overdue: Overdue,
}

/// What a due time's age means for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// It is not overdue.
    No,
    /// It fires all the same.
    Fires,
    /// It fires, at the pace of its policy.
    CaughtUp,
    /// It becomes one with the next.
    Collapses,
    /// It is left out.
    Skipped,
}

/// The due times that have come, [`MOST_ROWS`] at most, and the first one behind them.
pub(super) fn due_times(situation: &Situation<'_>) -> (Vec<Due>, Next) {
    let ahead = match situation.misfire {
        Misfire::FireNow | Misfire::Skip => 0,
        // Whether it is the last overdue one is seen at the next.
        Misfire::FireNextSoon => 1,
        Misfire::CatchUp { count, .. } => count as usize,
    };
    let mut coming = Coming { situation, next: Some(situation.due_at), seen: VecDeque::new() };
    let mut due = Vec::new();
    while due.len() < MOST_ROWS {
        coming.look_ahead(ahead + 1);
        let Some((at, age)) = coming.seen.pop_front() else { break };
        let overdue = coming.judge(age);
        // What is caught up is decided at once, so that its pace has one beginning.
        if overdue == Overdue::CaughtUp {
            let first = due.last().is_none_or(|due: &Due| due.overdue != Overdue::CaughtUp);
            let left = coming.seen.iter().filter(|(_, age)| *age > situation.misfire_after).count();
            if first && due.len() + 1 + left > MOST_ROWS && !due.is_empty() {
                return (due, Next::At(at));
            }
        }
        due.push(Due { at, age, overdue });
    }
    let next = coming.seen.front().map(|(at, _)| *at).or(coming.next);
    (due, next.map_or(Next::Over, Next::At))
}

/// Due times in order, some of them looked at before their turn.
struct Coming<'a> {
    situation: &'a Situation<'a>,
    next: Option<Timestamp>,
    /// Those that have come, each with its age.
    seen: VecDeque<(Timestamp, Duration)>,
}

impl Coming<'_> {
    fn look_ahead(&mut self, count: usize) {
        while self.seen.len() < count {
            let Some(at) = self.next else { return };
            // An earlier one that waits by chance holds back those behind it: the ledger is in order.
            let Ok(age) = (self.situation.now - fire_at(self.situation, at)).to_std() else {
                return;
            };
            self.seen.push_back((at, age));
            self.next = self.situation.reckoner.next_after(at).map(|due| due.at);
        }
    }

    /// Judges one of this age, which has just been taken from the front.
    fn judge(&self, age: Duration) -> Overdue {
        let is_overdue = |age: Duration| age > self.situation.misfire_after;
        if !is_overdue(age) {
            return Overdue::No;
        }
        let newer = self.seen.iter().filter(|(_, age)| is_overdue(*age)).count();
        match self.situation.misfire {
            Misfire::FireNow => Overdue::Fires,
            Misfire::FireNextSoon if newer == 0 => Overdue::Fires,
            Misfire::FireNextSoon => Overdue::Collapses,
            Misfire::Skip => Overdue::Skipped,
            Misfire::CatchUp { count, max_age, .. } => {
                let caught_up = newer < count as usize && age <= max_age;
                if caught_up { Overdue::CaughtUp } else { Overdue::Skipped }
            }
        }
    }
}
