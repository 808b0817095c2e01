//! Texts that are good once: refresh tokens and invitations.
//!
//! 256 random bits behind a name that leak scanners can find. Stored is the plain SHA-256: nobody guesses a preimage of so much
//! chance, and a copy of the database opens nothing.

use crate::base62::encode;
use crate::key::KeyError;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// Digits of base 62 that hold 256 bits.
const WIDTH: usize = 43;

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To go on being signed in.
    Refresh,
    /// To set a first password.
    Invitation,
}

impl Purpose {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Refresh => "berthrefresh_",
            Self::Invitation => "berthinvite_",
        }
    }
}

/// A new text and what to store of it.
#[derive(Debug)]
pub(crate) struct OneTime {
    /// The text: show it once.
    pub text: SecretString,
    /// Its SHA-256.
    pub hash: [u8; 32],
}

/// Makes a text.
///
/// # Errors
/// When the system gives no random bytes.
pub(crate) fn generate(purpose: Purpose) -> Result<OneTime, KeyError> {
    let mut chance = [0; 32];
    getrandom::fill(&mut chance).map_err(|_| KeyError::Random)?;
    let text = format!("{}{}", purpose.prefix(), encode(&chance, WIDTH));
    Ok(OneTime { hash: hash(&text), text: SecretString::from(text) })
}

/// What is stored of a text for this purpose; `None` when it cannot be one.
pub(crate) fn presented(purpose: Purpose, text: &str) -> Option<[u8; 32]> {
    let fits = text.strip_prefix(purpose.prefix()).is_some_and(|rest| rest.len() == WIDTH);
    fits.then(|| hash(text))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn a_text_is_known_again_for_its_own_purpose_only() {
        let made = generate(Purpose::Refresh).unwrap();
        let text = made.text.expose_secret();
        assert_eq!(presented(Purpose::Refresh, text), Some(made.hash));
        assert_eq!(presented(Purpose::Invitation, text), None);
        assert_eq!(presented(Purpose::Refresh, &text[..text.len() - 1]), None);
        assert_ne!(generate(Purpose::Refresh).unwrap().hash, made.hash);
    }
}
