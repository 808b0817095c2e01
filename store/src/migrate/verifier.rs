//! A password as Postgres keeps it: nothing from which it could be read.
//!
//! A statement that is refused is in Postgres's log as it came, and what is printed for a database administrator goes by mail: neither
//! is to show a password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;
use uuid::Uuid;

/// As many as Postgres takes by itself.
const ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4095);

/// What to write into a statement between quotes: a SCRAM-SHA-256 verifier (RFC 5803), or the password itself where it has other
/// letters than ASCII, which Postgres normalises first.
pub(super) fn of(password: &str) -> String {
    if password.is_ascii() {
        scram(password, Uuid::new_v4().as_bytes())
    } else {
        password.replace('\'', "''")
    }
}

fn scram(password: &str, salt: &[u8]) -> String {
    let mut salted = [0; digest::SHA256_OUTPUT_LEN];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ITERATIONS, salt, password.as_bytes(), &mut salted);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
    let client = hmac::sign(&key, b"Client Key");
    let stored = digest::digest(&digest::SHA256, client.as_ref());
    let server = hmac::sign(&key, b"Server Key");
    let [salt, stored, server] =
        [salt, stored.as_ref(), server.as_ref()].map(|bytes| STANDARD.encode(bytes));
    format!("SCRAM-SHA-256${ITERATIONS}:{salt}${stored}:{server}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3, whose server signature was computed with the same keys.
    #[test]
    fn the_keys_are_those_of_the_standard() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        assert_eq!(
            scram("pencil", &salt),
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
        assert!(!of("pencil").contains("pencil"));
    }
}
