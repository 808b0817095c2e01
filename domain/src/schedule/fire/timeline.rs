//! Due times in fire order.
//!
//! Each due time has its own jitter, so with a jitter larger than the interval a later due time may fire first. The
//! last fire divides settled due times (before) from open ones (after), in fire order.

use super::jitter;
use crate::id::ScheduleId;
use crate::schedule::{DueTime, Marks, Previewed, Reckoner, Steps, Walk};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A due time and its fire time, ordered by fire time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coming {
    /// Fire time: the due time plus its jitter.
    pub fire_at: Timestamp,
    /// The due time.
    pub due_at: Timestamp,
}

/// Due times of one timing while it is valid.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The timing.
    pub reckoner: &'a Reckoner,
    /// Only due times after this.
    pub after: Timestamp,
    /// Only due times up to this one, which is included.
    pub until: Option<Timestamp>,
}

impl Coming {
    /// The due time `due_at` of `schedule`.
    #[must_use]
    pub fn of(schedule: ScheduleId, reckoner: &Reckoner, due_at: Timestamp) -> Self {
        Self { fire_at: due_at + jitter(schedule, due_at, reckoner.jitter()), due_at }
    }

    /// The position before all fire times after `at`.
    #[must_use]
    pub const fn after(at: Timestamp) -> Self {
        Self { fire_at: at, due_at: Timestamp::MAX_UTC }
    }
}

/// First due time of `sources` with a fire time after `after`.
#[must_use]
pub fn first_coming(schedule: ScheduleId, sources: &[Source<'_>], after: Coming) -> Option<Coming> {
    Timeline::new(schedule, sources, after).next()
}

/// The next `count` due times from `next`, in fire order; fewer if `steps` run out.
#[must_use]
pub fn upcoming(
    (schedule, source): (ScheduleId, Source<'_>),
    next: Coming,
    count: usize,
    steps: Steps,
) -> Previewed {
    let instant_before = |at: Timestamp| at - TimeDelta::microseconds(1);
    let mut timeline = Timeline { steps, ..Timeline::new(schedule, &[source], next) };
    let (mut due, mut coming) = (Vec::new(), Some(next));
    while due.len() < count
        && let Some(Coming { due_at: at, .. }) = coming
    {
        let found = source.reckoner.next_within(instant_before(at), &timeline.steps);
        let found = found.filter(|due| due.at == at);
        due.push(found.unwrap_or(DueTime { at, marks: Marks::default() }));
        coming = timeline.next();
    }
    Previewed { due, is_cut: timeline.steps.is_out() }
}

/// Due times of several sources, in fire order.
#[derive(Debug)]
pub(super) struct Timeline<'a> {
    schedule: ScheduleId,
    after: Coming,
    cursors: Vec<Cursor<'a>>,
    /// Due times that fire after others not found yet.
    waiting: BinaryHeap<Reverse<Coming>>,
    /// Step limit.
    steps: Steps,
}

/// How far a source was read.
#[derive(Debug)]
struct Cursor<'a> {
    source: Source<'a>,
    walk: Walk<'a>,
    /// Last due time read.
    reached: Timestamp,
    /// The one after it; `None`: not computed yet.
    next: Option<Option<Timestamp>>,
}

impl<'a> Timeline<'a> {
    /// All of `sources` that are to be fired after `after`.
    pub fn new(schedule: ScheduleId, sources: &[Source<'a>], after: Coming) -> Self {
        let cursors = sources.iter().map(|source| Cursor::new(*source, after)).collect();
        let (waiting, steps) = (BinaryHeap::new(), Steps::unlimited());
        Self { schedule, after, cursors, waiting, steps }
    }

    /// The source whose next due time is the earliest, and that due time.
    fn earliest(&mut self) -> Option<(usize, Timestamp)> {
        let steps = &self.steps;
        let next = |(at, cursor): (usize, &mut Cursor<'_>)| Some((at, cursor.peek(steps)?));
        self.cursors.iter_mut().enumerate().filter_map(next).min_by_key(|(_, next)| *next)
    }
}

impl<'a> Cursor<'a> {
    fn new(source: Source<'a>, after: Coming) -> Self {
        let reached = if source.reckoner.is_fixed_delay() {
            // Its first due time is its only one, and others may have followed by now.
            after.due_at.min(after.fire_at)
        } else {
            // What was due before has been fired, however long it waited.
            after.fire_at - source.reckoner.jitter() - TimeDelta::microseconds(1)
        };
        let walk = source.reckoner.walk();
        Self { source, walk, reached: reached.max(source.after), next: None }
    }

    fn peek(&mut self, steps: &Steps) -> Option<Timestamp> {
        let (source, reached) = (self.source, self.reached);
        *self.next.get_or_insert_with(|| {
            if source.until.is_some_and(|until| reached >= until) {
                return None;
            }
            let due = self.walk.next_after(reached, steps)?.at;
            source.until.is_none_or(|until| due <= until).then_some(due)
        })
    }

    /// Whether no later due time is before `at`, without computing it.
    fn is_past(&self, at: Timestamp) -> bool {
        match self.next {
            Some(Some(next)) => next >= at,
            Some(None) => true,
            None => self.reached >= at,
        }
    }
}

impl Iterator for Timeline<'_> {
    type Item = Coming;

    fn next(&mut self) -> Option<Coming> {
        loop {
            if let Some(Reverse(head)) = self.waiting.peek().copied() {
                let is_first = self.cursors.iter().all(|cursor| cursor.is_past(head.fire_at));
                let is_first =
                    is_first || self.earliest().is_none_or(|(_, next)| next >= head.fire_at);
                if is_first {
                    self.waiting.pop();
                    return Some(head);
                }
            }
            let (at, due_at) = self.earliest()?;
            let cursor = self.cursors.get_mut(at)?;
            (cursor.reached, cursor.next) = (due_at, None);
            let coming = Coming::of(self.schedule, cursor.source.reckoner, due_at);
            if coming > self.after {
                self.waiting.push(Reverse(coming));
            }
        }
    }
}
