//! One due time, and what is special about it.

use super::zone::{NEAR, Stretch, Zone};
use super::{DAY, second_of};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A time at which a schedule is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueTime {
    /// When; without jitter.
    pub at: Timestamp,
    /// What the zone's clocks have to do with it.
    pub marks: Marks,
}

/// What the clocks of a zone have to do with a due time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Its clock time does not exist on this day: it stands for what fell into the gap.
    pub shifted: bool,
    /// Its clock time comes more than once.
    pub repeated: bool,
    /// Its clock time came before.
    pub again: bool,
    /// The clocks change on this day.
    pub change_day: bool,
}

impl Zone {
    /// What the clocks have to do with the instant `micros`.
    pub(super) fn marks(&self, micros: i64, shifted: bool) -> Marks {
        let stretch = self.stretch_at(second_of(micros));
        let civil = second_of(micros) + stretch.offset;
        let others = self.others(stretch, civil);
        Marks {
            shifted,
            repeated: others.earlier || others.later,
            again: others.earlier,
            change_day: shifted || self.changes_on_day_of(stretch, civil),
        }
    }

    /// Whether a part of `civil`'s day is missing or comes twice.
    fn changes_on_day_of(&self, stretch: Stretch, civil: i64) -> bool {
        let midnight = civil - civil.rem_euclid(DAY);
        let far =
            |edge: i64| edge.saturating_add(stretch.offset).abs_diff(civil) > NEAR.unsigned_abs();
        let concerns = |before: &Stretch, after: &Stretch| {
            let (one, other) = (after.start + before.offset, after.start + after.offset);
            one.min(other) < midnight + DAY && one.max(other) > midnight
        };
        let chain = |mut all: Vec<Stretch>| {
            all.insert(0, stretch);
            all
        };
        let past = (!far(stretch.start)).then(|| chain(self.near_before(stretch, civil).collect()));
        let next = (!far(stretch.end)).then(|| chain(self.near_after(stretch, civil).collect()));
        past.is_some_and(|all| all.windows(2).any(|pair| concerns(&pair[1], &pair[0])))
            || next.is_some_and(|all| all.windows(2).any(|pair| concerns(&pair[0], &pair[1])))
    }
}
