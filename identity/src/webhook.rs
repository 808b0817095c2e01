//! Secrets that sign webhooks.

use crate::IdentityError;
use crate::key::KeyError;
use domain::webhook::SigningSecret;

/// A new secret of 256 random bits.
///
/// # Errors
/// When the system gives no random bytes.
pub fn signing_secret() -> Result<SigningSecret, IdentityError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
    Ok(SigningSecret::of(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_is_another() {
        assert_ne!(signing_secret().unwrap(), signing_secret().unwrap());
    }
}
