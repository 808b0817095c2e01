//! What the browser keeps for us: encrypted, so that nobody reads or makes it without the installation's secret.
//!
//! ChaCha20-Poly1305 with a random nonce for each text. All api processes share the key; there is no table of sessions.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// Longer texts are not decoded; a browser sends no longer cookie.
const MOST: usize = 4096;

/// Encrypts and decrypts.
pub(crate) struct Sealer {
    key: LessSafeKey,
    random: SystemRandom,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    /// With a key derived from the installation's secret. `None` where it has another length than the cipher's.
    pub(crate) fn new(key: &[u8; 32]) -> Option<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).ok()?;
        Some(Self { key: LessSafeKey::new(key), random: SystemRandom::new() })
    }

    /// Random bytes.
    pub(crate) fn random<const N: usize>(&self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.random.fill(&mut bytes).ok()?;
        Some(bytes)
    }

    /// `plain` for the browser to keep, bound to `purpose`.
    pub(crate) fn seal(&self, purpose: &str, plain: &[u8]) -> Option<String> {
        let nonce = self.random::<NONCE_LEN>()?;
        let mut bytes = plain.to_vec();
        let (aad, unique) = (Aad::from(purpose.as_bytes()), Nonce::assume_unique_for_key(nonce));
        self.key.seal_in_place_append_tag(unique, aad, &mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat()))
    }

    /// What was sealed for `purpose`; `None` for anything else.
    pub(crate) fn open(&self, purpose: &str, text: &str) -> Option<Vec<u8>> {
        if text.len() > MOST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let (aad, nonce) = (Aad::from(purpose.as_bytes()), Nonce::assume_unique_for_key(*nonce));
        let mut sealed = sealed.to_vec();
        let plain = self.key.open_in_place(nonce, aad, &mut sealed).ok()?;
        Some(plain.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_for_the_same_purpose_under_the_same_key_opens() {
        let sealer = Sealer::new(&[7; 32]).unwrap();
        let text = sealer.seal("a", b"secret").unwrap();
        assert!(!text.contains("secret"));
        assert_eq!(sealer.open("a", &text).as_deref(), Some(&b"secret"[..]));
        assert_eq!(sealer.open("b", &text), None);
        assert_eq!(Sealer::new(&[8; 32]).unwrap().open("a", &text), None);
        assert_eq!(sealer.open("a", &text[..text.len() - 1]), None);
        assert_eq!(sealer.open("a", ""), None);
        assert_eq!(sealer.open("a", &"A".repeat(MOST + 1)), None);
        assert_ne!(sealer.seal("a", b"secret").unwrap(), text, "each has a nonce of its own");
    }
}
