//! All sections together.
//!
//! Built only by `load`. Each role's start-up takes its own section and passes on values, never the
//! whole.

use super::checks::Checks;
use super::{
    ApiConfig, AuthConfig, BillingConfig, BusConfig, DatabaseConfig, ExecutorConfig, LimitsConfig,
    NotifierConfig, RedisConfig, ResourceManagerConfig, SchedulerConfig, SchedulesConfig,
    TelemetryConfig,
};
use serde::Deserialize;

/// Every setting of Berth, checked. Secrets do not show in `Debug`.
#[derive(Debug, Clone)]
pub struct Config {
    /// Postgres.
    pub database: DatabaseConfig,
    /// The message broker.
    pub bus: BusConfig,
    /// Where api processes count together.
    pub redis: RedisConfig,
    /// The HTTP API.
    pub api: ApiConfig,
    /// Keys and shared secrets.
    pub auth: AuthConfig,
    /// What a task may ask for.
    pub limits: LimitsConfig,
    /// Who sends invoices.
    pub billing: BillingConfig,
    /// When tasks go.
    pub scheduler: SchedulerConfig,
    /// When schedules fire.
    pub schedules: SchedulesConfig,
    /// Where tasks go.
    pub resource_manager: ResourceManagerConfig,
    /// `[notifier]`.
    pub notifier: NotifierConfig,
    /// The agent that runs tasks.
    pub executor: ExecutorConfig,
    /// Logs.
    pub telemetry: TelemetryConfig,
    redacted: String,
}

impl Config {
    /// The settings as they were loaded, as TOML, secrets redacted: safe to print.
    #[must_use]
    pub fn redacted_toml(&self) -> &str {
        &self.redacted
    }
}

/// The sections as they stand in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sections {
    database: DatabaseConfig,
    bus: BusConfig,
    redis: RedisConfig,
    api: ApiConfig,
    auth: AuthConfig,
    limits: LimitsConfig,
    billing: BillingConfig,
    scheduler: SchedulerConfig,
    schedules: SchedulesConfig,
    resource_manager: ResourceManagerConfig,
    notifier: NotifierConfig,
    executor: ExecutorConfig,
    telemetry: TelemetryConfig,
}

impl Sections {
    pub(super) fn check(&self, checks: &mut Checks) {
        self.database.check(checks);
        self.bus.check(checks);
        self.redis.check(checks);
        self.api.check(checks);
        self.auth.check(checks);
        self.limits.check(checks);
        self.billing.check(checks);
        self.scheduler.check(checks);
        self.schedules.check(checks);
        self.resource_manager.check(checks);
        self.notifier.check(checks);
        self.executor.check(checks);
        self.telemetry.check(checks);
        checks.rule(
            "scheduler.sweep_age",
            self.scheduler.sweep_age >= self.bus.hint_ttl,
            "must not be below `bus.hint_ttl`, or tasks are handed out again while their hints still live; \
             raise it or lower `bus.hint_ttl`",
        );
    }

    pub(super) fn into_config(self, redacted: String) -> Config {
        Config {
            database: self.database,
            bus: self.bus,
            redis: self.redis,
            api: self.api,
            auth: self.auth,
            limits: self.limits,
            billing: self.billing,
            scheduler: self.scheduler,
            schedules: self.schedules,
            resource_manager: self.resource_manager,
            notifier: self.notifier,
            executor: self.executor,
            telemetry: self.telemetry,
            redacted,
        }
    }
}
