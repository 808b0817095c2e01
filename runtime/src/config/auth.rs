//! `[auth]`: the installation's name in API keys, the shared secrets, and how long users stay signed in.
//!
//! The secrets have no default and are asked for by the role that needs them: an executor must start
//! without the key hash secret, and `berth migrate` without either. A weak one is refused, because it
//! would be found only by whoever breaks in.

use super::checks::{Checks, hours, secs};
use super::environment::variable_of;
use super::error::ConfigError;
use super::values::{duration, plan_if_any, secret};
use domain::id::PlanName;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// Settings of `[auth]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthConfig {
    /// Part of an API key that tells installations apart.
    pub environment: String,
    #[serde(deserialize_with = "secret")]
    key_hash_secret: SecretString,
    #[serde(deserialize_with = "secret")]
    executor_secret: SecretString,
    #[serde(deserialize_with = "secret")]
    jwt_key: SecretString,
    #[serde(deserialize_with = "secret")]
    jwt_previous_key: SecretString,
    /// Life of an access token.
    #[serde(deserialize_with = "duration")]
    pub access_token_life: Duration,
    /// Life of a sign-in that is not refreshed.
    #[serde(deserialize_with = "duration")]
    pub refresh_token_life: Duration,
    /// Life of an invitation.
    #[serde(deserialize_with = "duration")]
    pub invitation_life: Duration,
    /// The plan of customers who sign up by themselves; `None` where nobody can.
    #[serde(deserialize_with = "plan_if_any")]
    pub sign_up_plan: Option<PlanName>,
}

/// What access tokens are signed with.
#[derive(Debug, Clone, Copy)]
pub struct JwtKeys<'a> {
    /// Signs and verifies.
    pub present: &'a SecretString,
    /// Verifies what was signed before the last change of keys.
    pub previous: Option<&'a SecretString>,
}

impl AuthConfig {
    /// Key of the keyed hash under which API keys are stored.
    ///
    /// # Errors
    /// When it is not given, shorter than 32 bytes or an obvious default.
    pub fn key_hash_secret(&self) -> Result<&SecretString, ConfigError> {
        strong("auth.key_hash_secret", &self.key_hash_secret)
    }

    /// What executors show to a resource manager.
    ///
    /// # Errors
    /// When it is not given, shorter than 32 bytes, an obvious default, or the key hash secret.
    pub fn executor_secret(&self) -> Result<&SecretString, ConfigError> {
        let secret = strong("auth.executor_secret", &self.executor_secret)?;
        if secret.expose_secret() == self.key_hash_secret.expose_secret() {
            let message = "must differ from `auth.key_hash_secret`, which executors must not learn";
            return Err(missing("auth.executor_secret", message));
        }
        Ok(secret)
    }

    /// What access tokens are signed with; `None` where users cannot sign in.
    ///
    /// # Errors
    /// When one is given that is shorter than 32 bytes, an obvious default, or the same as another secret; or only the previous.
    pub fn jwt_keys(&self) -> Result<Option<JwtKeys<'_>>, ConfigError> {
        const PREVIOUS: &str = "auth.jwt_previous_key";
        let given = |secret: &SecretString| !secret.expose_secret().is_empty();
        if !given(&self.jwt_key) {
            return match given(&self.jwt_previous_key) {
                true => Err(missing(PREVIOUS, "stands alone: `auth.jwt_key` is what signs")),
                false => Ok(None),
            };
        }
        let present = strong("auth.jwt_key", &self.jwt_key)?;
        let previous = match given(&self.jwt_previous_key) {
            true => Some(strong(PREVIOUS, &self.jwt_previous_key)?),
            false => None,
        };
        for (key, secret) in [("auth.jwt_key", Some(present)), (PREVIOUS, previous)] {
            let others = [&self.key_hash_secret, &self.executor_secret];
            let text = secret.map(ExposeSecret::expose_secret);
            if others.iter().any(|other| Some(other.expose_secret()) == text) {
                return Err(missing(key, "must differ from the other secrets of this section"));
            }
        }
        Ok(Some(JwtKeys { present, previous }))
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        checks.rule(
            "auth.environment",
            (1..=8).contains(&self.environment.len()) && self.environment.bytes().all(letters),
            "must be 1 to 8 of a-z 0-9",
        );
        checks.duration("auth.access_token_life", self.access_token_life, secs(30)..=secs(3600));
        checks.duration("auth.refresh_token_life", self.refresh_token_life, hours(1)..=hours(8760));
        checks.duration("auth.invitation_life", self.invitation_life, hours(1)..=hours(720));
    }
}

/// Least length of a secret, bytes.
const MIN_BYTES: usize = 32;

/// What people write when they mean to come back to it.
const PLACEHOLDERS: [&str; 9] = [
    "changeme",
    "change-me",
    "change_me",
    "replace-me",
    "replace_me",
    "placeholder",
    "example",
    "insecure",
    "password",
];

fn strong<'a>(
    key: &'static str,
    secret: &'a SecretString,
) -> Result<&'a SecretString, ConfigError> {
    let text = secret.expose_secret();
    if text.is_empty() {
        return Err(missing(key, "must be given: 32 random bytes or more (openssl rand -hex 32)"));
    }
    if text.len() < MIN_BYTES {
        return Err(missing(key, "is shorter than 32 bytes; use `openssl rand -hex 32`"));
    }
    if is_obvious(text) {
        return Err(missing(key, "is easily guessed; use `openssl rand -hex 32`"));
    }
    Ok(secret)
}

/// A placeholder, few different bytes, or a short piece repeated.
fn is_obvious(text: &str) -> bool {
    let lower = text.to_lowercase();
    let bytes = lower.as_bytes();
    let repeats = |unit: usize| bytes.iter().zip(&bytes[unit..]).all(|(a, b)| a == b);
    PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || bytes.iter().collect::<BTreeSet<_>>().len() < 8
        || (1..=bytes.len() / 2).any(repeats)
}

fn missing(key: &'static str, message: &str) -> ConfigError {
    ConfigError::Missing { key, message: message.to_owned(), variable: variable_of(key) }
}
