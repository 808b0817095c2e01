//! Clock hours, for hourly limits.
//!
//! A count in a fixed hour can be shown ("from 14:00 to 15:00"), stored, and summed over processes. A sliding hour
//! allows none of these.

use crate::time::Timestamp;
use std::time::Duration;

/// An hour.
pub const HOUR: Duration = Duration::from_secs(3600);

/// A whole hour of UTC, by its number since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Hour(pub i64);

impl Hour {
    /// The hour in which `at` lies.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Self(at.timestamp().div_euclid(3600))
    }

    /// When it began; the epoch for an hour out of all reach.
    #[must_use]
    pub fn start(self) -> Timestamp {
        Timestamp::from_timestamp(self.0.saturating_mul(3600), 0).unwrap_or_default()
    }

    /// How long from `now` until it is over; nothing afterwards.
    #[must_use]
    pub fn left(self, now: Timestamp) -> Duration {
        (Self(self.0.saturating_add(1)).start() - now).to_std().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_begins_and_ends_on_the_clock() {
        let at = Timestamp::from_timestamp(1_700_002_199, 500_000_000).unwrap();
        let hour = Hour::of(at);
        assert_eq!(hour.start().timestamp() % 3600, 0);
        assert!(hour.start() <= at && at < Hour(hour.0 + 1).start());
        assert_eq!(hour.left(hour.start()), HOUR);
        assert_eq!(hour.left(Hour(hour.0 + 1).start()), Duration::ZERO);
        assert_eq!(hour.left(Hour(hour.0 + 2).start()), Duration::ZERO);
        assert_eq!(Hour::of(Hour(-1).start()), Hour(-1));
    }
}
