//! `[redis]`: where rate limits are counted for all api processes together.
//!
//! Read by `api` at start-up. Nothing waits for Redis for longer than these times, and nothing fails for want of it.

use super::checks::{Checks, ms, secs};
use super::values::{duration, secret};
use crate::tls::PemFile;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;

/// Settings of `[redis]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisConfig {
    /// Its URL; empty: none, use `is_used`.
    #[serde(deserialize_with = "secret")]
    pub url: SecretString,
    /// File of the CAs that are trusted besides the usual ones; empty: none.
    pub ca_file: String,
    /// File of our certificate, for servers that ask for one; empty: none.
    pub client_cert_file: String,
    /// File of its key; empty: none.
    pub client_key_file: String,
    /// First part of all keys.
    pub key_prefix: String,
    /// Longest wait for a connection.
    #[serde(deserialize_with = "duration")]
    pub connect_timeout: Duration,
    /// Longest wait for an answer.
    #[serde(deserialize_with = "duration")]
    pub command_timeout: Duration,
}

impl RedisConfig {
    /// Whether there is a Redis.
    #[must_use]
    pub fn is_used(&self) -> bool {
        !self.url.expose_secret().is_empty()
    }

    /// The file of private CAs.
    #[must_use]
    pub fn ca_file(&self) -> PemFile<'_> {
        PemFile { setting: "redis.ca_file", path: &self.ca_file }
    }

    /// The files of our certificate and its key.
    #[must_use]
    pub fn client_files(&self) -> (PemFile<'_>, PemFile<'_>) {
        (
            PemFile { setting: "redis.client_cert_file", path: &self.client_cert_file },
            PemFile { setting: "redis.client_key_file", path: &self.client_key_file },
        )
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        let url = url::Url::parse(self.url.expose_secret());
        checks.rule(
            "redis.url",
            !self.is_used() || url.is_ok_and(|url| matches!(url.scheme(), "redis" | "rediss")),
            "must be a Redis URL such as redis://default:password@host:6379/0, or empty",
        );
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._:-".contains(&b);
        checks.rule(
            "redis.key_prefix",
            (1..=32).contains(&self.key_prefix.len()) && self.key_prefix.bytes().all(letters),
            "must be 1 to 32 of a-z 0-9 . _ : -",
        );
        checks.duration("redis.connect_timeout", self.connect_timeout, ms(10)..=secs(10));
        checks.duration("redis.command_timeout", self.command_timeout, ms(5)..=secs(10));
    }
}
