//! Settings: one small struct per concern, read once at start-up.
//!
//! Three layers, the later wins: `config/default.toml` (compiled in, and the manual), an optional
//! file, the environment (`BERTH_SECTION__KEY`). A key that the defaults do not have is refused by
//! name, because a misspelt setting that is silently ignored is found in the next outage.

mod api;
mod auth;
mod billing;
mod bus;
mod checks;
mod database;
mod environment;
mod error;
mod executor;
mod layers;
mod limits;
mod load;
mod notifier;
mod redact;
mod redis;
mod resource_manager;
mod root;
mod scheduler;
mod schedules;
mod telemetry;
mod values;

pub use api::ApiConfig;
pub use auth::{AuthConfig, JwtKeys};
pub use billing::BillingConfig;
pub use bus::{BusConfig, BusKind, QueueType};
pub use database::{DatabaseConfig, ServiceRole};
pub use environment::{process as variables, variable};
pub use error::{ConfigError, Problem};
pub use executor::{ExecutorConfig, IsolationMode, RunAsUids};
pub use ipnet::IpNet;
pub use limits::LimitsConfig;
pub use load::{DEFAULT_TOML, load, load_around, load_from};
pub use notifier::NotifierConfig;
pub use redis::RedisConfig;
pub use resource_manager::ResourceManagerConfig;
pub use root::Config;
pub use scheduler::SchedulerConfig;
pub use schedules::SchedulesConfig;
pub use secrecy::{ExposeSecret, SecretString};
pub use telemetry::{LogFormat, OtlpProtocol, TelemetryConfig};
