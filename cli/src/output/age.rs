//! Times as people want them: how long ago.

use chrono::TimeDelta;
use domain::time::{Timestamp, format_duration};
use std::time::Duration;

/// A length of time in its largest unit: `5s`, `3m`, `2h`, `4d`. Less than nothing is `0s`.
pub fn short(age: TimeDelta) -> String {
    let seconds = age.num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `3m ago`, or `in 3m`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    if at > now { format!("in {}", short(at - now)) } else { format!("{} ago", short(now - at)) }
}

/// A length of time to the millisecond: `1m30s`, `250ms`.
pub fn exact(length: TimeDelta) -> String {
    let ms = u64::try_from(length.num_milliseconds()).unwrap_or_default();
    format_duration(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

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
