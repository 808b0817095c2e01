//! A moment as people type it: a time, a date, or how long ago.

use crate::lifetime::lifetime;
use chrono::NaiveDate;
use domain::time::Timestamp;
use runtime::clock;

/// Reads a time such as `2030-01-31T12:00:00Z`, a date (its first moment in UTC), or an age such as `2h` or `7d`.
pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    moment_at(text, clock::wall())
}

fn moment_at(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    const FORM: &str =
        "expected a time such as 2030-01-31T12:00:00Z, a date, or an age such as 2h or 7d";
    if let Ok(time) = super::submit::time(text) {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(chrono::NaiveTime::MIN).and_utc());
    }
    let age = lifetime(text).map_err(|_| FORM.to_owned())?;
    now.checked_sub_signed(age).ok_or_else(|| FORM.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_a_date_or_an_age() {
        let now: Timestamp = "2030-01-31T12:00:00Z".parse().unwrap();
        for (text, wanted) in [
            ("2030-01-31T12:00:00+02:00", "2030-01-31T10:00:00Z"),
            ("2030-01-30", "2030-01-30T00:00:00Z"),
            ("2h", "2030-01-31T10:00:00Z"),
            ("1d", "2030-01-30T12:00:00Z"),
            ("90s", "2030-01-31T11:58:30Z"),
        ] {
            assert_eq!(moment_at(text, now), Ok(wanted.parse().unwrap()), "{text}");
        }
        for text in ["", "yesterday", "2", "-2h", "2030-02-30", "0s"] {
            assert!(moment_at(text, now).is_err(), "{text}");
        }
    }
}
