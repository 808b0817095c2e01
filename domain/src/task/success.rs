//! Which answers to an HTTP task are a success: `"2xx"`, `"200,204"`, `"200-299,304"`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Most parts of a rule.
const MAX_PARTS: usize = 16;
/// Statuses that can end an exchange.
const STATUSES: RangeInclusive<u16> = 200..=599;

/// A set of statuses; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SuccessRule(Vec<RangeInclusive<u16>>);

/// A text is no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must list statuses from 200 to 599 such as \"2xx\", \"200,204\" or \"200-299\", at most {MAX_PARTS} of them"
)]
pub struct ParseSuccessError;

impl SuccessRule {
    /// Whether `status` is a success.
    #[must_use]
    pub fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl Default for SuccessRule {
    /// `2xx`.
    fn default() -> Self {
        Self(vec![200..=299])
    }
}

impl FromStr for SuccessRule {
    type Err = ParseSuccessError;

    fn from_str(text: &str) -> Result<Self, ParseSuccessError> {
        let parts: Option<Vec<_>> =
            text.split(',').take(MAX_PARTS + 1).map(|p| part(p.trim())).collect();
        match parts {
            Some(parts) if parts.len() <= MAX_PARTS => Ok(Self(parts)),
            _ => Err(ParseSuccessError),
        }
    }
}

fn part(text: &str) -> Option<RangeInclusive<u16>> {
    let status = |text: &str| {
        let plain = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|status| plain && STATUSES.contains(status))
    };
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let first = status(&format!("{class}00"))?;
        return Some(first..=first + 99);
    }
    match text.split_once('-') {
        Some((first, last)) => {
            let range = status(first.trim())?..=status(last.trim())?;
            (!range.is_empty()).then_some(range)
        }
        None => status(text).map(|status| status..=status),
    }
}

impl fmt::Display for SuccessRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let (first, last) = (range.start(), range.end());
            if first == last {
                write!(f, "{comma}{first}")?;
            } else if first % 100 == 0 && *last == first + 99 {
                write!(f, "{comma}{}xx", first / 100)?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for SuccessRule {
    type Error = ParseSuccessError;

    fn try_from(text: String) -> Result<Self, ParseSuccessError> {
        text.parse()
    }
}

impl From<SuccessRule> for String {
    fn from(rule: SuccessRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn classes_lists_and_ranges_hold_what_they_name() {
        for (text, inside, outside) in [
            ("2xx", vec![200, 204, 299], vec![300, 404, 500]),
            ("200,204", vec![200, 204], vec![201, 302]),
            ("200-299", vec![200, 299], vec![300]),
            ("2XX, 404 , 500-502", vec![200, 404, 501], vec![403, 503]),
            ("3xx", vec![301], vec![200]),
        ] {
            let rule: SuccessRule = text.parse().unwrap();
            assert!(inside.iter().all(|status| rule.holds(*status)), "{text}");
            assert!(!outside.iter().any(|status| rule.holds(*status)), "{text}");
        }
        assert_eq!(SuccessRule::default(), "2xx".parse().unwrap());
    }

    #[test]
    fn what_names_no_status_is_refused() {
        let many = vec!["200"; MAX_PARTS + 1].join(",");
        for text in [
            "",
            ",",
            "200,",
            "x",
            "xx",
            "1xx",
            "6xx",
            "22xx",
            "100",
            "199",
            "600",
            "20",
            "0200",
            "+200",
            "200-",
            "-299",
            "299-200",
            "200-299-300",
            "ok",
            &many,
        ] {
            assert_eq!(text.parse::<SuccessRule>(), Err(ParseSuccessError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_rule_reads_back_as_written(ranges in prop::collection::vec((200u16..=599, 0u16..200), 1..MAX_PARTS)) {
            let rule = SuccessRule(ranges.into_iter().map(|(a, more)| a..=(a + more).min(599)).collect());
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            text.parse::<SuccessRule>().ok();
        }
    }
}
