//! What becomes of overdue times, as it is typed.

use super::timing::word;
use domain::schedule::Misfire;
use domain::time::parse_duration;

/// A word, or `catch_up` with its numbers.
pub(super) fn misfire(text: &str) -> Result<Misfire, String> {
    const FORM: &str = "expected fire_now, fire_next_soon, skip, or catch_up:COUNT:MAX_AGE[:PER_SECOND] such as catch_up:10:24h";
    let Some(numbers) = text.strip_prefix("catch_up:") else {
        return match text {
            "fire_now" | "fire_next_soon" | "skip" => word(text),
            _ => Err(FORM.to_owned()),
        };
    };
    let mut parts = numbers.split(':');
    let read = |text: &str| text.parse::<u32>().map_err(|_| FORM.to_owned());
    let count = read(parts.next().unwrap_or_default())?;
    let max_age = parse_duration(parts.next().unwrap_or_default()).map_err(|_| FORM.to_owned())?;
    let per_second = parts.next().map(read).transpose()?;
    let misfire = Misfire::CatchUp { count, max_age, per_second };
    if parts.next().is_none() && misfire.is_valid() { Ok(misfire) } else { Err(FORM.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_misfire_policy_is_a_word_or_has_its_numbers() {
        assert_eq!(misfire("fire_now"), Ok(Misfire::FireNow));
        assert_eq!(misfire("skip"), Ok(Misfire::Skip));
        let max_age = Duration::from_secs(86_400);
        let catch_up = |per_second| Ok(Misfire::CatchUp { count: 10, max_age, per_second });
        assert_eq!(misfire("catch_up:10:24h"), catch_up(None));
        assert_eq!(misfire("catch_up:10:24h:2"), catch_up(Some(2)));
        for bad in [
            "",
            "catch_up",
            "catch_up:10",
            "catch_up:0:24h",
            "catch_up:10:24h:0",
            "catch_up:1:1h:1:1",
            "later",
        ] {
            assert!(misfire(bad).is_err(), "{bad}");
        }
    }
}
