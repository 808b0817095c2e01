//! Excluded times of a schedule.

use super::zone::Zone;
use super::{DAY, MICROS, midnight_of};
use crate::schedule::{Bound, Exclusion};

/// What a timing excludes; days are those that the zone's clock shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Closed(Vec<(Edge, Edge)>);

/// Where an exclusion begins or ends.
#[derive(Debug, Clone, Copy)]
enum Edge {
    /// A midnight of civil time, in seconds.
    Civil(i64),
    /// An instant, in microseconds.
    Instant(i64),
}

impl Closed {
    pub fn of(exclusions: &[Exclusion]) -> Self {
        let from = |bound: Bound| match bound {
            Bound::Day(date) => Edge::Civil(midnight_of(date)),
            Bound::Instant(at) => Edge::Instant(at.timestamp_micros()),
        };
        // The last day belongs to it.
        let to = |bound: Bound| match bound {
            Bound::Day(date) => Edge::Civil(midnight_of(date) + DAY),
            Bound::Instant(at) => Edge::Instant(at.timestamp_micros()),
        };
        let edges = |exclusion: &Exclusion| match exclusion {
            Exclusion::Day(date) => (from(Bound::Day(*date)), to(Bound::Day(*date))),
            Exclusion::Range(range) => (from(range.from), to(range.to)),
        };
        Self(exclusions.iter().map(edges).collect())
    }

    /// What [`Self::until`] costs, in steps.
    pub const fn steps(&self) -> u64 {
        self.0.len() as u64 / 8
    }

    /// Where `at` is excluded, a time until which all is, as far as can be told at once; it is after `at`.
    pub fn until(&self, zone: &Zone, at: i64) -> Option<i64> {
        if self.0.is_empty() {
            return None;
        }
        let stretch = zone.stretch_at(at.div_euclid(MICROS));
        let civil = at.div_euclid(MICROS) + stretch.offset;
        let reached = |edge: &Edge| match edge {
            Edge::Civil(from) => civil >= *from,
            Edge::Instant(from) => at >= *from,
        };
        let closes = |(from, to): &(Edge, Edge)| {
            if !reached(from) || reached(to) {
                return None;
            }
            // Where clocks go back a day can be left and come again: only within a stretch is its end known for sure. Days that
            // lie well inside of a long exclusion need no such care.
            let end = stretch.end.saturating_mul(MICROS);
            let inside = match from {
                Edge::Civil(from) => civil - from > 2 * DAY,
                Edge::Instant(_) => true,
            };
            Some(match to {
                Edge::Instant(to) if inside => *to,
                Edge::Instant(to) => end.min(*to),
                Edge::Civil(to) => {
                    let in_stretch = end.min((to - stretch.offset).saturating_mul(MICROS));
                    let safe = (to - 2 * DAY).saturating_mul(MICROS);
                    if inside { in_stretch.max(safe) } else { in_stretch }
                }
            })
        };
        self.0.iter().filter_map(closes).max().map(|until| until.max(at + 1))
    }
}
