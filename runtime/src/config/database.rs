//! `[database]`: how each service reaches Postgres.
//!
//! Read by `cli` when it opens a role's pool. No service logs in as the owner of the tables: each has
//! a role of its own, so that row-level security and grants hold whatever the code does.

use super::checks::{Checks, ms, secs};
use super::environment::variable_of;
use super::error::ConfigError;
use super::values::{duration, secret};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// Settings of `[database]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseConfig {
    /// Owner's URL.
    #[serde(deserialize_with = "secret")]
    pub url: SecretString,
    /// Password of the service roles; may be empty.
    #[serde(deserialize_with = "secret")]
    pub service_password: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub api_url: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub submit_url: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub scheduler_url: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub rm_url: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub admin_url: SecretString,
    /// Connections per api process for requests.
    pub api_connections: u32,
    /// Connections per api process for batches and keys.
    pub submit_connections: u32,
    /// Connections per api process for operators.
    pub admin_connections: u32,
    /// Connections per scheduler.
    pub scheduler_connections: u32,
    /// Connections per resource manager.
    pub rm_connections: u32,
    /// Longest wait for a free connection.
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
    /// Longest run of a read.
    #[serde(deserialize_with = "duration")]
    pub statement_timeout: Duration,
    /// A transaction pooler stands before Postgres.
    pub pooler: bool,
}

/// A login of Berth's own services, and what it may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceRole {
    /// One tenant's request: sees only the tenant set in its transaction.
    Api,
    /// Grouped inserts and idempotency rows, across tenants.
    Submit,
    /// The scheduler's statements, across tenants.
    Scheduler,
    /// The resource manager's statements, across tenants.
    ResourceManager,
    /// The platform's operators.
    Admin,
}

impl ServiceRole {
    /// The Postgres role's name.
    #[must_use]
    pub fn user(self) -> &'static str {
        match self {
            Self::Api => "berth_api",
            Self::Submit => "berth_submit",
            Self::Scheduler => "berth_scheduler",
            Self::ResourceManager => "berth_rm",
            Self::Admin => "berth_admin",
        }
    }
}

impl DatabaseConfig {
    /// The URL with which a service logs in: its own when one is given, else `url` with the role's
    /// user and `service_password`.
    ///
    /// # Errors
    /// When the URL is derived and `url` is not a Postgres URL.
    pub fn service_url(&self, role: ServiceRole) -> Result<SecretString, ConfigError> {
        let own = match role {
            ServiceRole::Api => &self.api_url,
            ServiceRole::Submit => &self.submit_url,
            ServiceRole::Scheduler => &self.scheduler_url,
            ServiceRole::ResourceManager => &self.rm_url,
            ServiceRole::Admin => &self.admin_url,
        };
        if !own.expose_secret().is_empty() {
            return Ok(own.clone());
        }
        derive(self.url.expose_secret(), role.user(), self.service_password.expose_secret())
            .map(SecretString::from)
            .ok_or_else(|| ConfigError::Missing {
                key: "database.url",
                message: FORM.to_owned(),
                variable: variable_of("database.url"),
            })
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        for (key, url) in [
            ("database.url", &self.url),
            ("database.api_url", &self.api_url),
            ("database.submit_url", &self.submit_url),
            ("database.scheduler_url", &self.scheduler_url),
            ("database.rm_url", &self.rm_url),
            ("database.admin_url", &self.admin_url),
        ] {
            let text = url.expose_secret();
            checks.rule(key, text.is_empty() || parse(text).is_some(), FORM);
        }
        checks.number("database.api_connections", self.api_connections, 1..=1000);
        checks.number("database.submit_connections", self.submit_connections, 1..=1000);
        checks.number("database.admin_connections", self.admin_connections, 1..=1000);
        checks.number("database.scheduler_connections", self.scheduler_connections, 1..=1000);
        checks.number("database.rm_connections", self.rm_connections, 1..=1000);
        checks.duration("database.acquire_timeout", self.acquire_timeout, ms(10)..=secs(60));
        checks.duration("database.statement_timeout", self.statement_timeout, ms(100)..=secs(600));
    }
}

const FORM: &str = "must be a Postgres URL such as postgres://user@host:5432/berth";

fn parse(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "postgres" | "postgresql"))
}

/// The owner's URL with another login. A URL without host (a socket given as `?host=/path`) has no
/// place for a user, so there the login goes where the host is: into the query.
fn derive(owner: &str, user: &str, password: &str) -> Option<String> {
    let mut url = parse(owner)?;
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| key != "user" && key != "password")
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
    let password = Some(password).filter(|password| !password.is_empty());
    if url.set_username(user).is_ok() && url.set_password(password).is_ok() {
        return Some(url.into());
    }
    url.query_pairs_mut().append_pair("user", user);
    if let Some(password) = password {
        url.query_pairs_mut().append_pair("password", password);
    }
    Some(url.into())
}
