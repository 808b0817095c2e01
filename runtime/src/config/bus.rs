//! `[bus]`: the broker, limits and timeouts.
//!
//! Read by `bus` when it connects.

use super::checks::{Checks, ms, secs};
use super::values::{duration, secret};
use crate::tls::PemFile;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;

/// Which bus carries hints and wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum BusKind {
    /// A broker that separate processes share.
    #[serde(rename = "rabbitmq")]
    RabbitMq,
    /// Memory of one process that holds all roles.
    #[serde(rename = "in_process")]
    InProcess,
}

/// How the broker keeps a pool's hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueType {
    /// On as many nodes of the broker as make a majority, through a log.
    Quorum,
    /// In the memory of one node.
    Classic,
}

/// Settings of `[bus]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// RabbitMQ or in-process.
    pub kind: BusKind,
    /// AMQP URL.
    #[serde(deserialize_with = "secret")]
    pub url: SecretString,
    /// File of the CAs that are trusted besides the usual ones; empty: none.
    pub ca_file: String,
    /// File of our certificate, for brokers that ask for one; empty: none.
    pub client_cert_file: String,
    /// File of its key; empty: none.
    pub client_key_file: String,
    /// First part of all queue and exchange names.
    pub queue_prefix: String,
    /// How hints are kept.
    pub queue_type: QueueType,
    /// Longest wait for a confirm.
    #[serde(deserialize_with = "duration")]
    pub publish_timeout: Duration,
    /// Life of a hint in its queue.
    #[serde(deserialize_with = "duration")]
    pub hint_ttl: Duration,
    /// Messages a hint queue holds at most.
    pub hint_max_length: u32,
    /// Unacknowledged messages per consumer.
    pub prefetch: u16,
    /// AMQP heartbeat, whole seconds.
    #[serde(deserialize_with = "duration")]
    pub heartbeat: Duration,
    /// Longest pause between attempts to reconnect.
    #[serde(deserialize_with = "duration")]
    pub reconnect_max: Duration,
    /// Shortest time between two wake-ups that a process publishes.
    #[serde(deserialize_with = "duration")]
    pub wake_interval: Duration,
}

impl BusConfig {
    /// A URL for each host that `url` names, in their order.
    #[must_use]
    pub fn urls(&self) -> Vec<SecretString> {
        let url = self.url.expose_secret();
        let Some((scheme, rest)) = url.split_once("://") else { return vec![self.url.clone()] };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let of_host = |host: &str| format!("{scheme}://{user}{host}{path}").into();
        hosts.split(',').map(of_host).collect()
    }

    /// The file of private CAs.
    #[must_use]
    pub fn ca_file(&self) -> PemFile<'_> {
        PemFile { setting: "bus.ca_file", path: &self.ca_file }
    }

    /// The files of our certificate and its key.
    #[must_use]
    pub fn client_files(&self) -> (PemFile<'_>, PemFile<'_>) {
        (
            PemFile { setting: "bus.client_cert_file", path: &self.client_cert_file },
            PemFile { setting: "bus.client_key_file", path: &self.client_key_file },
        )
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        let urls = self.urls();
        let is_amqp = |url: &SecretString| {
            url::Url::parse(url.expose_secret()).is_ok_and(|url| {
                matches!(url.scheme(), "amqp" | "amqps") && (urls.len() == 1 || url.has_host())
            })
        };
        checks.rule(
            "bus.url",
            urls.iter().all(is_amqp),
            "must be an AMQP URL such as amqp://user:password@host:5672/%2f; of several hosts: amqp://user:password@one:5672,two:5672/%2f",
        );
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
        checks.rule(
            "bus.queue_prefix",
            (1..=32).contains(&self.queue_prefix.len()) && self.queue_prefix.bytes().all(letters),
            "must be 1 to 32 of a-z 0-9 . _ -",
        );
        checks.duration("bus.publish_timeout", self.publish_timeout, ms(50)..=secs(30));
        checks.duration("bus.hint_ttl", self.hint_ttl, ms(100)..=secs(60));
        checks.number("bus.hint_max_length", self.hint_max_length, 1..=1_000_000);
        checks.number("bus.prefetch", self.prefetch, 1..=1000);
        checks.duration("bus.heartbeat", self.heartbeat, secs(1)..=secs(30));
        let whole = self.heartbeat.subsec_nanos() == 0;
        checks.rule("bus.heartbeat", whole, "must be whole seconds: AMQP knows no less");
        checks.duration("bus.reconnect_max", self.reconnect_max, ms(100)..=secs(60));
        checks.duration("bus.wake_interval", self.wake_interval, ms(0)..=ms(100));
    }
}
