//! Names of tenants and their comparison.
//!
//! Parsed from user input: Unicode NFKC, trimmed, visible characters only. A name that only looks like another can be
//! used for impersonation, so names are compared by [`TenantName::key`].

use std::fmt;
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Longest name, characters.
pub const MAX_TENANT_NAME: usize = 200;

/// A name that a new tenant may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TenantName {
    text: String,
    key: String,
}

/// A text is not a tenant name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseTenantNameError {
    /// It is empty, or too long.
    #[error("must have 1 to {MAX_TENANT_NAME} characters besides the spaces around them")]
    Length,
    /// It has an invisible or undefined character.
    #[error(
        "must not contain U+{:04X}: control characters, invisible ones, those that change the direction of text, and those that \
         Unicode has not assigned are not allowed", *.0 as u32
    )]
    Invisible(char),
}

impl TenantName {
    /// As it is shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Equal for similar names: another case, another form of the same letters, other spaces.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The key of any text, also of older, invalid names.
    #[must_use]
    pub fn key_of(text: &str) -> String {
        // Upper and lower case, so that letters of one case only (U+00DF, U+1E9E, U+017F) equal their counterparts.
        // Letter by letter, independent of position.
        let lower = |c: char| c.to_lowercase();
        let folded: String = spaced(text)
            .chars()
            .flat_map(lower)
            .flat_map(char::to_uppercase)
            .flat_map(lower)
            .collect();
        spaced(&folded)
    }
}

/// In NFKC, with single spaces, trimmed.
fn spaced(text: &str) -> String {
    let normal: String = text.nfkc().collect();
    let words: Vec<&str> = normal.split_whitespace().collect();
    words.join(" ")
}

/// Whether `c` is invisible or undefined.
fn is_invisible(c: char) -> bool {
    use GeneralCategory as G;
    let category = c.general_category();
    matches!(
        category,
        G::Control
            | G::Format
            | G::Unassigned
            | G::PrivateUse
            | G::Surrogate
            | G::LineSeparator
            | G::ParagraphSeparator
    ) || is_blank(c)
}

/// Invisible letters, marks and signs that their categories do not show (Unicode's `Default_Ignorable_Code_Point`, and
/// the blank Braille pattern).
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{34F}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

impl FromStr for TenantName {
    type Err = ParseTenantNameError;

    fn from_str(text: &str) -> Result<Self, ParseTenantNameError> {
        // First, because the text may have any length.
        if text.len() > MAX_TENANT_NAME * 64 {
            return Err(ParseTenantNameError::Length);
        }
        // Inside of it a line break is no space, though it is one at its ends.
        if let Some(invisible) = text.trim().chars().find(|c| is_invisible(*c)) {
            return Err(ParseTenantNameError::Invisible(invisible));
        }
        let text = spaced(text);
        if !(1..=MAX_TENANT_NAME).contains(&text.chars().count()) {
            return Err(ParseTenantNameError::Length);
        }
        let key = Self::key_of(&text);
        Ok(Self { text, key })
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> TenantName {
        text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }

    #[test]
    fn a_name_is_kept_in_one_form_without_space_around_it() {
        for (text, kept) in [
            ("acme", "acme"),
            (" \t Acme \u{a0}Corp.\r\n", "Acme Corp."),
            ("Ｆｕｌｌ\u{3000}Ｗｉｄｔｈ", "Full Width"),
            ("Caf\u{65}\u{301}", "Caf\u{e9}"),
            ("ﬁnance №5", "finance No5"),
            ("北京 🚀", "北京 🚀"),
        ] {
            assert_eq!(name(text).as_str(), kept);
            assert_eq!(name(kept), name(text));
        }
    }

    #[test]
    fn names_that_are_taken_for_each_other_have_one_key() {
        for (one, other) in [
            ("Acme", "ACME"),
            ("Acme Corp", "acme  corp"),
            ("Acme\u{2003}Corp", "acme corp"),
            ("ＡＣＭＥ", "acme"),
            ("Straße", "STRASSE"),
            ("STRA\u{1e9e}E", "strasse"),
            ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
            ("\u{17f}how", "Show"),
            ("Å", "\u{212b}"),
        ] {
            assert_ne!(name(one).as_str(), other);
            assert_eq!(name(one).key(), name(other).key(), "{one} {other}");
        }
        for (one, other) in [("acme", "acme2"), ("a b", "ab"), ("cafe", "café"), ("o", "0")] {
            assert_ne!(name(one).key(), name(other).key());
        }
    }

    #[test]
    fn what_nobody_sees_is_in_no_name() {
        for invisible in [
            '\0',
            '\u{7}',
            '\n',
            '\u{85}',
            '\u{ad}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{feff}',
            '\u{34f}',
            '\u{115f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{ffa0}',
            '\u{e000}',
            '\u{e0001}',
            '\u{e0100}',
            '\u{378}',
        ] {
            let text = format!("ac{invisible}me");
            let refused = ParseTenantNameError::Invisible(invisible);
            assert_eq!(text.parse::<TenantName>(), Err(refused), "{invisible:?}");
        }
        let message = "a\u{202e}b".parse::<TenantName>().unwrap_err().to_string();
        assert!(message.contains("U+202E"), "{message}");
    }

    #[test]
    fn a_name_has_1_to_200_characters_once_it_is_in_its_form() {
        let length = Err(ParseTenantNameError::Length);
        for bad in
            ["", "  ", "\u{a0}\n", &"x".repeat(201), &"x".repeat(100_000), &"\u{fdfa}".repeat(12)]
        {
            assert_eq!(bad.parse::<TenantName>(), length);
        }
        assert_eq!(name(&format!("  {}  ", "é".repeat(200))).as_str().chars().count(), 200);
    }

    proptest! {
        #[test]
        fn a_name_and_its_key_are_what_they_are_when_they_are_read_again(text in "\\PC{0,40}") {
            if let Ok(name) = text.parse::<TenantName>() {
                prop_assert_eq!(name.as_str().parse(), Ok(name.clone()));
                prop_assert_eq!(TenantName::key_of(name.key()), name.key());
                prop_assert_eq!(TenantName::key_of(&text), name.key());
            }
        }
    }
}
