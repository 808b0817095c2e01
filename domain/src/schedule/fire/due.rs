//! Past due times, and which of them are misfires.

use super::Misfire;
use super::situation::{MOST_ROWS, Situation};
use super::timeline::{Coming, Timeline};
use std::collections::VecDeque;
use std::iter::Peekable;
use std::time::Duration;

/// A past due time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub coming: Coming,
    /// Its lateness.
    pub age: Duration,
    pub overdue: Overdue,
}

/// Treatment of a due time by its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Not a misfire.
    No,
    /// Fires for all misfires before it.
    Fires,
    /// Caught up, at the rate of its policy.
    MadeUp,
    /// Merged into the next.
    Collapses,
    /// Skipped.
    Skipped,
}

/// Past due times, at most [`MOST_ROWS`], and the one after them, if any.
pub(super) fn due_times(situation: &Situation<'_>) -> (Vec<Due>, Option<Coming>) {
    let ahead = match situation.misfire {
        Misfire::FireNow | Misfire::Skip => 0,
        // Only the next one shows whether it is the last misfire.
        Misfire::FireNextSoon => 1,
        Misfire::CatchUp { count, .. } => count as usize,
    };
    let mut ahead_of = Ahead::new(situation);
    let mut due = Vec::new();
    while due.len() < MOST_ROWS {
        ahead_of.read_ahead(ahead + 1);
        let Some((coming, age)) = ahead_of.seen.pop_front() else { break };
        let overdue = ahead_of.judge(age);
        // A catch-up is decided at once, so that its rate has one start.
        if overdue == Overdue::MadeUp && ahead > 0 {
            let first = due.last().is_none_or(|due: &Due| due.overdue != Overdue::MadeUp);
            let is_overdue = |age: Duration| age > situation.misfire_after;
            let left = ahead_of.seen.iter().filter(|(_, age)| is_overdue(*age)).count();
            if first && due.len() + 1 + left > MOST_ROWS && !due.is_empty() {
                return (due, Some(coming));
            }
        }
        due.push(Due { coming, age, overdue });
    }
    let next = ahead_of.seen.front().map(|(coming, _)| *coming);
    (due, next.or_else(|| ahead_of.rest.peek().copied()))
}

/// Due times in order, with look-ahead.
struct Ahead<'a> {
    situation: &'a Situation<'a>,
    rest: Peekable<Box<dyn Iterator<Item = Coming> + 'a>>,
    /// Past due times with their ages.
    seen: VecDeque<(Coming, Duration)>,
}

impl<'a> Ahead<'a> {
    fn new(situation: &'a Situation<'a>) -> Self {
        let next = situation.next;
        let timeline = Timeline::new(situation.schedule, &situation.sources, next);
        // The stored next due time stays, even if the rules have changed.
        let all = std::iter::once(next)
            .chain(timeline.filter(move |coming| coming.due_at != next.due_at));
        let rest: Box<dyn Iterator<Item = Coming>> = Box::new(all);
        Self { situation, rest: rest.peekable(), seen: VecDeque::new() }
    }

    fn read_ahead(&mut self, count: usize) {
        let Situation { now, until, .. } = *self.situation;
        let until = until.map_or(now, |until| until.min(now));
        while self.seen.len() < count {
            let Some(coming) = self.rest.next_if(|coming| coming.fire_at <= until) else { return };
            let age = (now - coming.fire_at).to_std().unwrap_or_default();
            self.seen.push_back((coming, age));
        }
    }

    /// Treatment of the due time at the front, by its age.
    fn judge(&self, age: Duration) -> Overdue {
        let is_overdue = |age: Duration| age > self.situation.misfire_after;
        if !is_overdue(age) {
            return Overdue::No;
        }
        let newer = self.seen.iter().filter(|(_, age)| is_overdue(*age)).count();
        match self.situation.misfire {
            Misfire::FireNow => Overdue::MadeUp,
            Misfire::FireNextSoon if newer == 0 => Overdue::Fires,
            Misfire::FireNextSoon => Overdue::Collapses,
            Misfire::Skip => Overdue::Skipped,
            Misfire::CatchUp { count, max_age, .. } => {
                let made_up = newer < count as usize && age <= max_age;
                if made_up { Overdue::MadeUp } else { Overdue::Skipped }
            }
        }
    }
}
