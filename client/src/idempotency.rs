//! The key that makes a write safe to repeat.

use std::fmt;
use std::str::FromStr;

/// Identifies one write, which the server does once. 1 to 200 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to 200 visible ASCII characters, without blanks")]
pub struct ParseKeyError;

impl IdempotencyKey {
    /// A new key of 128 random bits.
    #[must_use]
    pub fn fresh() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IdempotencyKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let fits = (1..=200).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(ParseKeyError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_key_is_a_key_and_no_two_are_the_same() {
        let (a, b) = (IdempotencyKey::fresh(), IdempotencyKey::fresh());
        assert_eq!(a.as_str().parse(), Ok(a.clone()));
        assert_ne!(a, b);
    }

    #[test]
    fn what_a_header_cannot_hold_is_no_key() {
        for text in ["", "a b", "zwölf", "a\n", &"x".repeat(201)] {
            assert!(text.parse::<IdempotencyKey>().is_err(), "{text:?}");
        }
    }
}
