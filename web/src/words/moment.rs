//! Times. The page has UTC; the script shows the viewer's zone and keeps UTC for the pointer.

use askama::filters::HtmlSafe;
use chrono::{SecondsFormat, TimeDelta};
use domain::time::Timestamp;
use std::fmt;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub Timestamp);

/// The same by its distance from now: `3 min ago`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ago {
    /// When.
    pub at: Timestamp,
    /// Now.
    pub now: Timestamp,
}

fn machine(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn utc(at: Timestamp) -> impl fmt::Display {
    at.format("%Y-%m-%d %H:%M:%S UTC")
}

/// Made of digits and our own words only.
impl HtmlSafe for Moment {}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (machine, utc) = (machine(self.0), utc(self.0));
        write!(f, r#"<time datetime="{machine}" title="{utc}" data-local>{utc}</time>"#)
    }
}

/// Made of digits and our own words only.
impl HtmlSafe for Ago {}

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (machine, utc) = (machine(self.at), utc(self.at));
        let ago = ago(self.at, self.now);
        write!(f, r#"<time datetime="{machine}" title="{utc}" data-ago>{ago}</time>"#)
    }
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    if at > now {
        return format!("in {}", coarse(at - now));
    }
    match (now - at).num_seconds() {
        0..2 => "just now".to_owned(),
        _ => format!("{} ago", coarse(now - at)),
    }
}

/// In its largest unit.
fn coarse(length: TimeDelta) -> String {
    match length.num_seconds() {
        seconds @ ..60 => format!("{} s", seconds.max(0)),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// A length of time in its two largest units: `250 ms`, `1.4 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn length(length: TimeDelta) -> String {
    ms(length.num_milliseconds())
}

/// The same of milliseconds.
pub(crate) fn ms(ms: i64) -> String {
    let ms = ms.max(0);
    let pair = |first: i64, unit: &str, second: i64, smaller: &str| match second {
        0 => format!("{first} {unit}"),
        _ => format!("{first} {unit} {second} {smaller}"),
    };
    match ms / 1000 {
        0 => format!("{ms} ms"),
        seconds @ 1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds @ 60..3600 => pair(seconds / 60, "min", seconds % 60, "s"),
        seconds @ 3600..86_400 => pair(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        seconds => pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_two_units_at_most() {
        for (length, wanted) in [
            (-5, "0 ms"),
            (250, "250 ms"),
            (1_450, "1.4 s"),
            (59_999, "59 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (86_400_000, "1 d"),
        ] {
            assert_eq!(ms(length), wanted);
        }
    }

    #[test]
    fn a_moment_is_utc_until_a_script_makes_it_local() {
        let at = Timestamp::from_timestamp_millis(1_900_000_000_123).unwrap();
        assert_eq!(
            Moment(at).to_string(),
            "<time datetime=\"2030-03-17T17:46:40.123Z\" title=\"2030-03-17 17:46:40 UTC\" data-local>2030-03-17 17:46:40 UTC</time>"
        );
        let ago = |seconds| Ago { at, now: at + TimeDelta::seconds(seconds) }.to_string();
        for (seconds, wanted) in
            [(0, "just now"), (200, "3 min ago"), (-5000, "in 1 h"), (200_000, "2 d ago")]
        {
            assert!(ago(seconds).contains(&format!(">{wanted}<")), "{}", ago(seconds));
        }
    }
}
