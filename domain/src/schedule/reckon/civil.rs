//! The instants of a civil pattern in a zone: where clocks go forward a time is missing, where they go back it comes twice.
//!
//! The rule. A cron pattern whose minute or hour field begins with `*` recurs: it is due whenever the clock shows its time. Any other
//! time of day is fixed, and due once: where it exists nowhere, at the first instant after the gap, all of one gap together; where it
//! comes twice, as its owner chose.

use super::pattern::Pattern;
use super::steps::{OF_STRETCH, Steps};
use super::zone::{NEAR, Stretch, Zone};
use crate::schedule::{Gap, Repeat};
use std::sync::Arc;

/// Where a search ends: after 400 years the calendar repeats, and with it a zone's rules.
const HORIZON: i64 = 400 * 366 * super::DAY;

/// A civil pattern with what was chosen for gaps and repeats.
#[derive(Debug, Clone)]
pub(in crate::schedule) struct Civil {
    pub(super) pattern: Arc<Pattern>,
    pub(super) gap: Gap,
    pub(super) repeat: Repeat,
}

/// An instant, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CivilInstant {
    pub at: i64,
    /// It stands for what fell into a gap.
    pub shifted: bool,
}

impl Civil {
    /// The first instant from `from` on, as far as `steps` go.
    pub fn first_from(&self, zone: &Zone, from: i64, steps: &Steps) -> Option<CivilInstant> {
        let horizon = from.saturating_add(HORIZON);
        let (mut from, mut stretch) = (from, zone.stretch_at(from));
        while from < horizon {
            steps.take(OF_STRETCH)?;
            if from == stretch.start && self.falls_into_gap_before(zone, stretch, steps) {
                return Some(CivilInstant { at: from, shifted: true });
            }
            let civil = self.pattern.first_from(from + stretch.offset, steps)?;
            if let Some(civil) = self.first_within(zone, stretch, (civil, steps)) {
                return Some(CivilInstant { at: civil - stretch.offset, shifted: false });
            }
            // What comes years later is not walked to change by change. But the clock may go back to what it has shown, so all of
            // the time in which it could show something before `civil` must have been looked at.
            let soon = civil - NEAR - stretch.offset;
            if soon > stretch.end && stretch.end > from + NEAR {
                (from, stretch) = (soon, zone.stretch_at(soon));
            } else {
                stretch = zone.after(&stretch)?;
                from = stretch.start;
            }
        }
        None
    }

    /// The first civil time in `stretch` that is due in it; `civil` is the first to be asked.
    fn first_within(
        &self,
        zone: &Zone,
        stretch: Stretch,
        (civil, steps): (i64, &Steps),
    ) -> Option<i64> {
        let end = stretch.end.saturating_add(stretch.offset);
        let mut next = Some(civil);
        while let Some(civil) = next.filter(|civil| *civil < end) {
            if self.is_due_in(zone, stretch, civil) {
                return Some(civil);
            }
            steps.take(OF_STRETCH)?;
            next = self.pattern.first_from(civil + 1, steps);
        }
        None
    }

    fn is_due_in(&self, zone: &Zone, stretch: Stretch, civil: i64) -> bool {
        if self.repeat == Repeat::Both || self.pattern.recurs {
            return true;
        }
        let others = zone.others(stretch, civil);
        match self.repeat {
            Repeat::First => !others.earlier,
            Repeat::Last => !others.later,
            Repeat::Both => true,
        }
    }

    /// Whether a time of day that exists nowhere lies in the gap with which `stretch` begins.
    fn falls_into_gap_before(&self, zone: &Zone, stretch: Stretch, steps: &Steps) -> bool {
        if self.gap == Gap::Skip || self.pattern.recurs {
            return false;
        }
        let Some(before) = zone.before(&stretch) else { return false };
        let ends = stretch.start + stretch.offset;
        let mut from = stretch.start + before.offset;
        let first = |from| self.pattern.first_from(from, steps).filter(|civil| *civil < ends);
        while let Some(civil) = first(from) {
            let exists = zone.near_before(stretch, civil).any(|other| other.shows(civil))
                || zone.near_after(stretch, civil).any(|other| other.shows(civil));
            if !exists {
                return true;
            }
            if steps.take(OF_STRETCH).is_none() {
                return false;
            }
            from = civil + 1;
        }
        false
    }
}
