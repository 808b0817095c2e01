//! What a server asks for with `Retry-After` (RFC 9110, 10.2.3).
//!
//! It may only lengthen a wait, and no further than [`MAX_RETRY_AFTER`]: a server must not be able to park somebody's
//! task for a year.

use super::retry::RetryDecision;
use crate::time::Timestamp;
use chrono::NaiveDateTime;
use std::time::Duration;

/// The longest wait that is granted to a server.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// The three forms of a date that HTTP knows; the first is the one in use.
const DATES: [&str; 3] =
    ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The wait that `text` asks for at `now`: whole seconds or a date, at most [`MAX_RETRY_AFTER`].
#[must_use]
pub fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit mean for ever.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        // A date that has passed asks for nothing.
        (parse_http_date(text)? - now).to_std().unwrap_or_default()
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// Reads a date as HTTP writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
#[must_use]
pub fn parse_http_date(text: &str) -> Option<Timestamp> {
    let read = |form: &&str| NaiveDateTime::parse_from_str(text.trim(), form).ok();
    DATES.iter().find_map(read).map(|at| at.and_utc())
}

impl RetryDecision {
    /// The same, but no other attempt before `asked` has passed (at most [`MAX_RETRY_AFTER`]).
    #[must_use]
    pub fn not_before(self, asked: Option<Duration>) -> Self {
        match self {
            Self::After(wait) => {
                Self::After(wait.max(asked.unwrap_or_default().min(MAX_RETRY_AFTER)))
            }
            Self::Exhausted | Self::Abort | Self::Killed => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_all_three_forms_of_a_date_are_read() {
        let now = parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        assert_eq!(now.timestamp(), 784_111_777);
        for (text, seconds) in [
            ("0", 0),
            (" 120 ", 120),
            ("3601", 3600),
            ("99999999999999999999999", 3600),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
            ("Sun Nov  6 08:50:37 1994", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Fri, 06 Nov 2099 08:00:00 GMT", 3600),
        ] {
            assert_eq!(parse_retry_after(text, now), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "-1", "1.5", "soon", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(parse_retry_after(text, now), None, "{text}");
        }
    }

    #[test]
    fn what_is_asked_lengthens_a_wait_within_bounds_and_changes_nothing_else() {
        let after = |seconds| RetryDecision::After(Duration::from_secs(seconds));
        let asked = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(after(5).not_before(None), after(5));
        assert_eq!(after(5).not_before(asked(3)), after(5));
        assert_eq!(after(5).not_before(asked(9)), after(9));
        assert_eq!(after(5).not_before(asked(1_000_000)), after(3600));
        assert_eq!(after(9000).not_before(asked(1_000_000)), after(9000));
        assert_eq!(RetryDecision::Exhausted.not_before(asked(9)), RetryDecision::Exhausted);
        assert_eq!(RetryDecision::Abort.not_before(asked(9)), RetryDecision::Abort);
    }
}
