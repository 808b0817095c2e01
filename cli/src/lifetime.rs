//! How long a key lives, as people type it.

use chrono::TimeDelta;
use domain::time::parse_duration;

/// As durations are written everywhere, and days and weeks, which only people use.
pub(crate) fn lifetime(text: &str) -> Result<TimeDelta, String> {
    const FORM: &str = "expected a duration such as 90d, 2w or 12h, up to 3650d";
    length(text)
        .filter(|life| *life > TimeDelta::zero() && *life <= TimeDelta::days(3650))
        .ok_or_else(|| FORM.to_owned())
}

/// How long a key that was replaced may live on.
pub(crate) fn overlap(text: &str) -> Result<TimeDelta, String> {
    length(text)
        .filter(|overlap| (TimeDelta::zero()..=TimeDelta::days(30)).contains(overlap))
        .ok_or_else(|| "expected a duration such as 0s, 12h or 7d, up to 30d".to_owned())
}

fn length(text: &str) -> Option<TimeDelta> {
    let days = |number: &str, each: i64| {
        number.parse::<i64>().ok().and_then(|n| TimeDelta::try_days(n.checked_mul(each)?))
    };
    match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(number), _) => days(number, 1),
        (_, Some(number)) => days(number, 7),
        (None, None) => parse_duration(text).ok().and_then(|life| TimeDelta::from_std(life).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_days_weeks_or_durations() {
        for (text, wanted) in [
            ("90d", TimeDelta::days(90)),
            ("2w", TimeDelta::days(14)),
            ("12h", TimeDelta::hours(12)),
            ("PT5M", TimeDelta::minutes(5)),
        ] {
            assert_eq!(lifetime(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn an_overlap_may_be_nothing_and_30_days_at_most() {
        for (text, wanted) in [("0s", Some(0)), ("24h", Some(1)), ("30d", Some(30)), ("31d", None)]
        {
            assert_eq!(overlap(text).ok(), wanted.map(TimeDelta::days), "{text}");
        }
    }

    #[test]
    fn a_lifetime_that_is_none_or_too_long_is_refused() {
        for text in
            ["0d", "-1d", "", "d", "90", "3651d", "9999999999999999999d", "1317624576693539402w"]
        {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }
}
