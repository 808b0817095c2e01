//! Times as people want them: how long ago.

use chrono::TimeDelta;
pub use client::sentences::{ago, short};
use domain::time::format_duration;
use std::time::Duration;

/// A length of time to the millisecond: `1m30s`, `250ms`.
pub fn exact(length: TimeDelta) -> String {
    let ms = u64::try_from(length.num_milliseconds()).unwrap_or_default();
    format_duration(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;

    #[test]
    fn an_age_has_one_unit() {
        for (seconds, wanted) in [
            (-5, "0s"),
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (7200, "2h"),
            (200_000, "2d"),
        ] {
            assert_eq!(short(TimeDelta::seconds(seconds)), wanted);
        }
    }

    #[test]
    fn times_to_come_are_told_from_times_gone_by() {
        let now = Timestamp::UNIX_EPOCH + TimeDelta::days(1);
        assert_eq!(ago(now - TimeDelta::minutes(3), now), "3m ago");
        assert_eq!(ago(now + TimeDelta::minutes(3), now), "in 3m");
        assert_eq!(exact(TimeDelta::milliseconds(90_250)), "1m30s250ms");
    }
}
