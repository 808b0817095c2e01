//! What a canary sees of the service from outside, added up.
//!
//! A canary is a customer of the platform's own: it submits tasks, has a schedule fire, and looks whether each is accepted, starts when
//! it is due and ends once. The public status is made of nothing else.

use crate::task::State;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// Upper bounds of the classes of [`Delays`], milliseconds. What is longer is in one class more.
pub const BOUNDS_MS: [u32; 14] =
    [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000];
/// Classes of [`Delays`].
pub const CLASSES: usize = BOUNDS_MS.len() + 1;

/// How often a delay was in each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delays([u32; CLASSES]);

impl Delays {
    /// Those of counts by class, shortest first.
    #[must_use]
    pub const fn of(counts: [u32; CLASSES]) -> Self {
        Self(counts)
    }

    /// The counts by class, shortest first.
    #[must_use]
    pub const fn counts(&self) -> &[u32; CLASSES] {
        &self.0
    }

    /// Counts one more, of so many milliseconds.
    pub fn add(&mut self, ms: u32) {
        let class = BOUNDS_MS.partition_point(|bound| *bound < ms);
        if let Some(count) = self.0.get_mut(class) {
            *count = count.saturating_add(1);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|count| u64::from(*count)).sum()
    }

    /// The bound that `percent` of them (0 to 100) are within, milliseconds. `None`: there are none, or it is longer than any bound.
    #[must_use]
    pub fn within(&self, percent: u32) -> Option<u32> {
        let wanted = (self.total() * u64::from(percent.min(100))).div_ceil(100).max(1);
        let mut seen = 0;
        BOUNDS_MS.into_iter().zip(self.0).find_map(|(bound, count)| {
            seen += u64::from(count);
            (seen >= wanted).then_some(bound)
        })
    }
}

/// What canaries saw in some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Submits that were sent.
    pub submits: u32,
    /// Of these, those that were accepted within [`ACCEPT_LIMIT_S`].
    pub accepted: u32,
    /// Accepted tasks and fires of a schedule that were due.
    pub due: u32,
    /// Of these, those that succeeded in their first attempt within [`END_LIMIT_S`].
    pub reached: u32,
    /// Of these, those that started within their delay tolerance.
    pub on_time: u32,
    /// From when each was due to its start.
    pub lateness: Delays,
}

/// A submit has so many seconds to be accepted.
pub const ACCEPT_LIMIT_S: u32 = 10;
/// A task has so many seconds to end, from when it was due.
pub const END_LIMIT_S: u32 = 60;
/// How long after it is due a task of a canary may start.
pub const TOLERANCE_S: u32 = 10;

/// What became of a task of a canary, from when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Its state.
    pub state: State,
    /// Attempts so far.
    pub attempts: u32,
    /// When it started. `None`: it has not.
    pub started_after: Option<TimeDelta>,
    /// When it ended. `None`: it has not.
    pub ended_after: Option<TimeDelta>,
}

impl Seen {
    /// Counts a submit.
    pub const fn add_submit(&mut self, is_accepted: bool) {
        self.submits = self.submits.saturating_add(1);
        self.accepted = self.accepted.saturating_add(is_accepted as u32);
    }

    /// Counts a task that was due; `None`: nobody knows what became of it. Whether it did as it should.
    pub fn add_due(&mut self, course: Option<&Course>) -> bool {
        self.due = self.due.saturating_add(1);
        let Some(course) = course else { return false };
        let within = |after: Option<TimeDelta>, limit_s: u32| {
            after.is_some_and(|after| after <= TimeDelta::seconds(limit_s.into()))
        };
        let is_reached = course.state == State::Succeeded
            && course.attempts == 1
            && within(course.ended_after, END_LIMIT_S);
        let is_on_time = within(course.started_after, TOLERANCE_S);
        self.reached = self.reached.saturating_add(is_reached.into());
        self.on_time = self.on_time.saturating_add(is_on_time.into());
        if let Some(after) = course.started_after {
            self.lateness.add(u32::try_from(after.num_milliseconds().max(0)).unwrap_or(u32::MAX));
        }
        is_reached && is_on_time
    }

    /// What cannot be true of it: a field, and what it has to be.
    #[must_use]
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let most = |field, value: u32, of: &str, most: u32| {
            (value > most).then(|| (field, format!("expected at most `{of}`, which is {most}")))
        };
        let started = u64::from(self.due) >= self.lateness.total();
        let started = (!started).then(|| {
            ("lateness", format!("expected at most `due` altogether, which is {}", self.due))
        });
        [
            most("accepted", self.accepted, "submits", self.submits),
            most("reached", self.reached, "due", self.due),
            most("on_time", self.on_time, "due", self.due),
            started,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// How the service does, as its canaries see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// All is accepted, and ends as it should.
    Operational,
    /// Some canaries see faults, and others none.
    Degraded,
    /// Every canary sees faults.
    Down,
    /// No canary has reported lately.
    Unknown,
}

impl Health {
    /// Of the canaries that reported lately, those without and those with a fault in their last round.
    #[must_use]
    pub const fn of(well: u64, failing: u64) -> Self {
        match (well, failing) {
            (0, 0) => Self::Unknown,
            (_, 0) => Self::Operational,
            (0, _) => Self::Down,
            _ => Self::Degraded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_in_the_class_whose_bound_it_does_not_pass() {
        let mut delays = Delays::default();
        for ms in [0, 5, 6, 300_000, 300_001, u32::MAX] {
            delays.add(ms);
        }
        let mut wanted = [0; CLASSES];
        (wanted[0], wanted[1], wanted[CLASSES - 2], wanted[CLASSES - 1]) = (2, 1, 1, 2);
        assert_eq!(delays, Delays::of(wanted));
        assert_eq!(delays.total(), 6);
    }

    #[test]
    fn a_percentile_is_the_bound_that_so_many_are_within() {
        let mut delays = Delays::default();
        assert_eq!(delays.within(50), None);
        for ms in 1..=100 {
            delays.add(ms);
        }
        assert_eq!(
            [0, 5, 6, 50, 51, 99, 100, 999].map(|percent| delays.within(percent)),
            [5, 5, 10, 50, 100, 100, 100, 100].map(Some)
        );
        delays.add(u32::MAX);
        assert_eq!((delays.within(99), delays.within(100)), (Some(100), None));
    }

    #[test]
    fn a_task_did_as_it_should_if_it_started_in_time_and_ended_once() {
        let after = |s: i64| Some(TimeDelta::seconds(s));
        let well = Course {
            state: State::Succeeded,
            attempts: 1,
            started_after: after(10),
            ended_after: after(60),
        };
        let mut seen = Seen::default();
        assert!(seen.add_due(Some(&well)));
        for ill in [
            Course { state: State::Failed, ..well },
            Course { attempts: 2, ..well },
            Course { ended_after: after(61), ..well },
            Course { started_after: after(11), ..well },
            Course { state: State::Queued, started_after: None, ended_after: None, ..well },
        ] {
            assert!(!seen.add_due(Some(&ill)), "{ill:?}");
        }
        assert!(!seen.add_due(None));
        assert_eq!((seen.due, seen.reached, seen.on_time, seen.lateness.total()), (7, 2, 4, 5));
        seen.add_submit(true);
        seen.add_submit(false);
        assert_eq!((seen.submits, seen.accepted), (2, 1));
        assert_eq!(seen.problems(), []);
    }

    #[test]
    fn parts_are_no_more_than_the_whole() {
        let mut seen =
            Seen { submits: 1, accepted: 2, due: 0, reached: 1, on_time: 1, ..Seen::default() };
        seen.lateness.add(1);
        let fields: Vec<_> = seen.problems().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["accepted", "reached", "on_time", "lateness"]);
        assert_eq!(Seen::default().problems(), []);
    }

    #[test]
    fn all_canaries_together_say_how_it_does() {
        let wanted = [Health::Unknown, Health::Operational, Health::Down, Health::Degraded];
        assert_eq!(
            [(0, 0), (2, 0), (0, 1), (1, 1)].map(|(well, ill)| Health::of(well, ill)),
            wanted
        );
    }
}
