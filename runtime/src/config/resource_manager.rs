//! `[resource_manager]`: leases, batches and patience of the placing role.
//!
//! Read by `resource-manager` at start-up.

use super::checks::{Checks, hours, ms, secs};
use super::values::{address, duration};
use crate::tls::PemFile;
use domain::budget::BudgetRule;
use domain::quarantine::QuarantineRule;
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of `[resource_manager]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceManagerConfig {
    /// Address of the gRPC service; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// File of the certificate of the executor port; empty: plain text.
    pub tls_cert_file: String,
    /// File of its key; empty: none.
    pub tls_key_file: String,
    /// Address of the probes; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub health_listen: SocketAddr,
    /// Life of an executor session without a heartbeat.
    #[serde(deserialize_with = "duration")]
    pub lease_term: Duration,
    /// Time between the polite and the hard kill.
    #[serde(deserialize_with = "duration")]
    pub kill_grace: Duration,
    /// How long a hint is held while there is no room.
    #[serde(deserialize_with = "duration")]
    pub hint_hold: Duration,
    /// Least time between two reports of free room to the batcher.
    #[serde(deserialize_with = "duration")]
    pub report_interval: Duration,
    /// Tasks claimed in one statement.
    pub claim_batch: usize,
    /// Results settled in one statement.
    pub settle_batch: usize,
    /// Retries that 100 first attempts pay for.
    pub retry_percent_of_first_attempts: u32,
    /// Retries to a target a second in any case.
    pub retry_per_second: u32,
    /// Retries to a target paid for in advance.
    pub retry_burst: u32,
    /// Failures in a row that open the breaker of a target.
    pub breaker_failures: u32,
    /// Time between two probes of a target whose breaker is open.
    #[serde(deserialize_with = "duration")]
    pub breaker_probe_interval: Duration,
    /// The longest that a retry waits for its target.
    #[serde(deserialize_with = "duration")]
    pub retry_max_hold: Duration,
    /// Attempts that came back beyond those that ran, after which an executor is left alone.
    pub quarantine_after: u32,
    /// For how long, the first time.
    #[serde(deserialize_with = "duration")]
    pub quarantine_min: Duration,
    /// For how long at most.
    #[serde(deserialize_with = "duration")]
    pub quarantine_max: Duration,
    /// Connections to the executor port.
    pub max_connections: usize,
    /// Time from a connection to its first call with the secret.
    #[serde(deserialize_with = "duration")]
    pub first_call_timeout: Duration,
    /// Output written in one statement, bytes.
    pub output_batch_bytes: usize,
    /// Time to settle and hand over after SIGTERM.
    #[serde(deserialize_with = "duration")]
    pub shutdown_grace: Duration,
}

/// What a lease may last beyond its cap, or beyond a cancel, and the kill grace.
const LEASE_SLACK: Duration = Duration::from_secs(30);

impl ResourceManagerConfig {
    /// Certificate and key of the executor port.
    #[must_use]
    pub fn tls_files(&self) -> (PemFile<'_>, PemFile<'_>) {
        let file = |setting, path| PemFile { setting, path };
        (
            file("resource_manager.tls_cert_file", &self.tls_cert_file),
            file("resource_manager.tls_key_file", &self.tls_key_file),
        )
    }

    /// How long after its cap, or after it was cancelled, an attempt is over for certain: then its executor's session is
    /// fenced.
    #[must_use]
    pub fn hard_end_grace(&self) -> Duration {
        self.kill_grace + LEASE_SLACK
    }

    /// When an executor that gives back what it is given is left alone.
    #[must_use]
    pub const fn quarantine(&self) -> QuarantineRule {
        QuarantineRule {
            after: self.quarantine_after,
            least: self.quarantine_min,
            most: self.quarantine_max,
        }
    }

    /// What each target may be sent again, over all resource managers.
    #[must_use]
    pub fn retry_budget(&self) -> BudgetRule {
        BudgetRule {
            per_first_attempt: f64::from(self.retry_percent_of_first_attempts) / 100.0,
            per_second: f64::from(self.retry_per_second),
            burst: f64::from(self.retry_burst),
            open_after: self.breaker_failures,
            probe_interval: self.breaker_probe_interval,
        }
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        checks.duration("resource_manager.lease_term", self.lease_term, secs(3)..=secs(300));
        checks.duration("resource_manager.kill_grace", self.kill_grace, secs(0)..=secs(300));
        checks.duration("resource_manager.hint_hold", self.hint_hold, ms(0)..=ms(250));
        checks.duration("resource_manager.report_interval", self.report_interval, ms(1)..=secs(1));
        checks.number("resource_manager.claim_batch", self.claim_batch, 1..=10_000);
        checks.number("resource_manager.settle_batch", self.settle_batch, 1..=10_000);
        let percent = self.retry_percent_of_first_attempts;
        checks.number("resource_manager.retry_percent_of_first_attempts", percent, 0..=100);
        checks.number("resource_manager.retry_per_second", self.retry_per_second, 0..=1000);
        checks.number("resource_manager.retry_burst", self.retry_burst, 1..=10_000);
        checks.number("resource_manager.breaker_failures", self.breaker_failures, 2..=1_000_000);
        let probe = self.breaker_probe_interval;
        checks.duration("resource_manager.breaker_probe_interval", probe, ms(100)..=secs(300));
        let hold = self.retry_max_hold;
        checks.duration("resource_manager.retry_max_hold", hold, secs(1)..=hours(24));
        self.check_executors(checks);
        let output = self.output_batch_bytes;
        checks.number("resource_manager.output_batch_bytes", output, 65_536..=67_108_864);
        checks.duration(
            "resource_manager.shutdown_grace",
            self.shutdown_grace,
            secs(0)..=secs(300),
        );
    }

    fn check_executors(&self, checks: &mut Checks) {
        checks.number("resource_manager.quarantine_after", self.quarantine_after, 2..=1_000_000);
        let (least, most) = (self.quarantine_min, self.quarantine_max);
        checks.duration("resource_manager.quarantine_min", least, ms(100)..=secs(3600));
        checks.duration("resource_manager.quarantine_max", most, ms(100)..=hours(24));
        checks.rule(
            "resource_manager.quarantine_max",
            least <= most,
            "must not be below resource_manager.quarantine_min",
        );
        checks.number("resource_manager.max_connections", self.max_connections, 4..=1_000_000);
        let first_call = self.first_call_timeout;
        checks.duration("resource_manager.first_call_timeout", first_call, ms(100)..=secs(300));
    }
}
