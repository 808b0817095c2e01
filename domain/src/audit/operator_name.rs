//! The name of an operator who works on the database itself, with a command.

use std::fmt;
use std::str::FromStr;

/// Longest name, bytes.
const MAX: usize = 64;

/// A name: 1 to 64 of `a-z A-Z 0-9 . _ @ + -`. Claimed, not proven.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OperatorName {
    bytes: [u8; MAX],
    length: u8,
}

/// A text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to 64 of a-z A-Z 0-9 . _ @ + -")]
pub struct ParseOperatorNameError;

impl OperatorName {
    /// `text` with other characters replaced by `_`, for names from the system.
    #[must_use]
    pub fn like(text: &str) -> Self {
        let like = |c: char| if c.is_ascii() && allowed(c as u8) { c as u8 } else { b'_' };
        let name: Vec<u8> = text.chars().take(MAX).map(like).collect();
        Self::of(if name.is_empty() { b"_" } else { &name })
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn of(name: &[u8]) -> Self {
        let (mut bytes, length) = ([0; MAX], name.len().min(MAX));
        bytes[..length].copy_from_slice(&name[..length]);
        Self { bytes, length: u8::try_from(length).unwrap_or_default() }
    }
}

const fn allowed(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'@' | b'+' | b'-')
}

impl FromStr for OperatorName {
    type Err = ParseOperatorNameError;

    fn from_str(text: &str) -> Result<Self, ParseOperatorNameError> {
        let fits = (1..=MAX).contains(&text.len()) && text.bytes().all(allowed);
        if fits { Ok(Self::of(text.as_bytes())) } else { Err(ParseOperatorNameError) }
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperatorName({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_not_too_long() {
        let longest = "x".repeat(MAX);
        for name in ["ann", "ann@example.com", "A.b_c+d-1", &longest] {
            assert_eq!(name.parse::<OperatorName>().unwrap().as_str(), name);
        }
        for name in ["", "a b", "a:b", "ä", &"x".repeat(MAX + 1)] {
            assert_eq!(name.parse::<OperatorName>(), Err(ParseOperatorNameError), "{name}");
        }
        assert_eq!(OperatorName::like("DOMAIN\\ann ä").as_str(), "DOMAIN_ann__");
        assert_eq!(OperatorName::like("").as_str(), "_");
        assert_eq!(OperatorName::like(&"x".repeat(99)).as_str(), longest);
    }
}
