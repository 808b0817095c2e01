//! Passwords: hashed with Argon2id, and compared so that nobody learns which accounts exist.
//!
//! OWASP's parameters: 19 MiB, two passes, one lane. Few are hashed at once, on threads of their own: a flood of sign-ins waits
//! in line and takes neither the memory nor the threads of other requests. The rule: where there is no account, as much is
//! computed as where there is one.

use crate::fair_queue::{FairQueue, Turn};
use crate::peer::Peer;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use runtime::clock::timeout;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// KiB.
const MEMORY: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Hashed at once: each takes `MEMORY` and some 20 ms of a core.
const AT_ONCE: usize = 2;
/// Longest wait for a turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Why passwords cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too many are waiting.
    #[error("too many passwords wait to be hashed")]
    Busy,
    /// The system gave no random bytes or no thread, or the stored hash cannot be read.
    #[error("a password cannot be hashed: {0}")]
    Failed(String),
}

/// Hashes and compares passwords.
#[derive(Debug)]
pub(crate) struct Passwords {
    line: FairQueue,
    /// What a password is compared with where there is no account.
    nobodys: String,
}

impl Passwords {
    /// Hashes one password, for the accounts that do not exist.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn new() -> Result<Self, PasswordError> {
        Ok(Self { line: FairQueue::new(AT_ONCE), nobodys: hash("nobody's password")? })
    }

    /// Waits for a turn to hash. Asked for before anything is counted, so that nobody is charged for a try that was never made.
    ///
    /// # Errors
    /// When too many are waiting.
    pub(crate) async fn turn(&self, peer: Option<Peer>) -> Result<Turn<'_>, PasswordError> {
        let turn = timeout(LONGEST_WAIT, self.line.turn(peer)).await.ok().flatten();
        turn.ok_or(PasswordError::Busy)
    }

    /// The hash to store, as a PHC string.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) async fn hash(
        &self,
        _turn: &Turn<'_>,
        password: SecretString,
    ) -> Result<String, PasswordError> {
        compute(move || hash(password.expose_secret())).await
    }

    /// Whether this is the password with that hash. Without a hash it is not, and takes as long.
    ///
    /// # Errors
    /// When the stored hash cannot be read.
    pub(crate) async fn is_right(
        &self,
        _turn: &Turn<'_>,
        password: SecretString,
        stored: Option<String>,
    ) -> Result<bool, PasswordError> {
        let (hash, exists) = match stored {
            Some(hash) => (hash, true),
            None => (self.nobodys.clone(), false),
        };
        let same = compute(move || verify(password.expose_secret(), &hash)).await?;
        Ok(same && exists)
    }
}

async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
) -> Result<T, PasswordError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(PasswordError::Failed(error.to_string())))
}

fn argon2() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY, PASSES, LANES, None);
    let params = params.map_err(|error| PasswordError::Failed(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> Result<String, PasswordError> {
    let hash = argon2()?.hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| PasswordError::Failed(error.to_string()))
}

/// With the parameters that the hash names.
fn verify(password: &str, stored: &str) -> Result<bool, PasswordError> {
    let stored =
        PasswordHash::new(stored).map_err(|error| PasswordError::Failed(error.to_string()))?;
    Ok(argon2()?.verify_password(password.as_bytes(), &stored).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    #[tokio::test]
    async fn a_password_opens_its_own_hash_only_and_nobodys_opens_nothing() {
        let passwords = Passwords::new().unwrap();
        let turn = passwords.turn(None).await.unwrap();
        let stored = passwords.hash(&turn, secret("correct horse battery")).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let right = |text: &str, hash: Option<&String>| {
            passwords.is_right(&turn, secret(text), hash.cloned())
        };
        assert!(right("correct horse battery", Some(&stored)).await.unwrap());
        assert!(!right("correct horse batterz", Some(&stored)).await.unwrap());
        assert!(!right("nobody's password", None).await.unwrap());
        let again = passwords.hash(&turn, secret("correct horse battery")).await.unwrap();
        assert_ne!(stored, again, "salted");
    }
}
