//! `[notifier]`: how webhooks are sent.
//!
//! Read by `notifier` at start-up.

use super::checks::{Checks, hours, ms, secs};
use super::executor::MAX_NAME_SERVERS;
use super::values::{address, duration, name_servers};
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of `[notifier]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifierConfig {
    /// Address of the probes; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Whether receivers may be in private networks.
    pub private_targets: bool,
    /// Name servers; empty: the system's.
    #[serde(deserialize_with = "name_servers")]
    pub name_servers: Vec<SocketAddr>,
    /// The longest that a receiver may take.
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
    /// Deliveries under way at once.
    pub concurrency: u32,
    /// Of these, to one webhook.
    pub webhook_concurrency: u32,
    /// A webhook is disabled after so many failures in a row ...
    pub disable_failures: u32,
    /// ... over at least so long.
    #[serde(deserialize_with = "duration")]
    pub disable_after: Duration,
}

impl NotifierConfig {
    pub(super) fn check(&self, checks: &mut Checks) {
        checks.duration("notifier.timeout", self.timeout, ms(100)..=secs(30));
        checks.number("notifier.concurrency", self.concurrency, 1..=10_000);
        checks.rule(
            "notifier.name_servers",
            self.name_servers.len() <= MAX_NAME_SERVERS,
            format!("lists more than {MAX_NAME_SERVERS}"),
        );
        let all = self.concurrency.max(1);
        checks.number("notifier.webhook_concurrency", self.webhook_concurrency, 1..=all);
        checks.number("notifier.disable_failures", self.disable_failures, 1..=1_000_000);
        checks.duration("notifier.disable_after", self.disable_after, secs(0)..=hours(24 * 30));
    }
}
