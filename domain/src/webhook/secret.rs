//! Signing secrets and signatures of Standard Webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;

/// What a secret's text begins with.
const PREFIX: &str = "whsec_";
/// Shortest and longest key, bytes; the specification's bounds.
const LENGTH: std::ops::RangeInclusive<usize> = 24..=64;

/// The key of a webhook: `whsec_` and padded base64 of 24 to 64 bytes. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

/// A text is no signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be whsec_ followed by the padded base64 of 24 to 64 random bytes")]
pub struct ParseSecretError;

impl SigningSecret {
    /// Of these bytes, which must be random.
    #[must_use]
    pub fn of(bytes: [u8; 32]) -> Self {
        Self(bytes.to_vec())
    }

    /// Its text, which a receiver needs.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// The signature of a delivery that is sent at `timestamp`, seconds since 1970: `v1,` and the base64 of an HMAC-SHA256 over id,
    /// timestamp and body with dots between them.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        // Of a key of any length.
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0)
            .unwrap_or_else(|_| <Hmac<Sha256> as KeyInit>::new(&Default::default()));
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl FromStr for SigningSecret {
    type Err = ParseSecretError;

    fn from_str(text: &str) -> Result<Self, ParseSecretError> {
        let key = text.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
        key.filter(|key| LENGTH.contains(&key.len())).map(Self).ok_or(ParseSecretError)
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_as_it_is_shown_and_never_printed() {
        let secret = SigningSecret::of([7; 32]);
        assert_eq!(secret.reveal().parse(), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "SigningSecret");
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        for wrong in ["", "whsec_", "whsec_%%", &short, &STANDARD.encode([1; 32])] {
            assert_eq!(wrong.parse::<SigningSecret>(), Err(ParseSecretError), "{wrong}");
        }
    }

    /// Made with the package `standardwebhooks` 1.0.0 of PyPI.
    #[test]
    fn a_signature_is_that_of_the_published_packages() {
        let secret: SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
