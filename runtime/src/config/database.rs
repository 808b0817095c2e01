//! `[database]`: how each service reaches Postgres.
//!
//! Read by `cli` when it opens a role's pool. No service logs in as the owner of the tables: each has
//! a role of its own, so that row-level security and grants hold whatever the code does.

use super::checks::{Checks, ms, secs};
use super::environment::variable_of;
use super::error::ConfigError;
use super::values::{duration, secret};
use crate::turns::TurnLimits;
use percent_encoding::percent_decode_str;
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
    /// Before the name of each role.
    pub role_prefix: String,
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
    pub notifier_url: SecretString,
    /// Empty: derived; use `service_url`.
    #[serde(deserialize_with = "secret")]
    pub admin_url: SecretString,
    /// Connections per api process for requests.
    pub api_connections: u32,
    /// Connections of `api_connections` that requests of one tenant may have at once; use `tenant_turns`.
    pub tenant_connections: u32,
    /// Requests of one tenant that may wait for one of them.
    pub tenant_waiting: u32,
    /// How long each of those may wait.
    #[serde(deserialize_with = "duration")]
    pub tenant_wait: Duration,
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
    /// The notifier's statements, across tenants.
    Notifier,
    /// The platform's operators.
    Admin,
}

impl ServiceRole {
    /// Every role.
    pub const ALL: [Self; 6] = [
        Self::Api,
        Self::Submit,
        Self::Scheduler,
        Self::ResourceManager,
        Self::Notifier,
        Self::Admin,
    ];

    /// The Postgres role's name, without `database.role_prefix`.
    #[must_use]
    pub fn user(self) -> &'static str {
        match self {
            Self::Api => "berth_api",
            Self::Submit => "berth_submit",
            Self::Scheduler => "berth_scheduler",
            Self::ResourceManager => "berth_rm",
            Self::Notifier => "berth_notifier",
            Self::Admin => "berth_admin",
        }
    }
}

impl DatabaseConfig {
    /// The Postgres role's name in this installation.
    #[must_use]
    pub fn user_of(&self, role: ServiceRole) -> String {
        format!("{}{}", self.role_prefix, role.user())
    }

    const fn own_url(&self, role: ServiceRole) -> (&'static str, &SecretString) {
        match role {
            ServiceRole::Api => ("database.api_url", &self.api_url),
            ServiceRole::Submit => ("database.submit_url", &self.submit_url),
            ServiceRole::Scheduler => ("database.scheduler_url", &self.scheduler_url),
            ServiceRole::ResourceManager => ("database.rm_url", &self.rm_url),
            ServiceRole::Notifier => ("database.notifier_url", &self.notifier_url),
            ServiceRole::Admin => ("database.admin_url", &self.admin_url),
        }
    }

    /// The setting in which a service's password is given.
    #[must_use]
    pub fn password_setting_of(&self, role: ServiceRole) -> &'static str {
        let (key, own) = self.own_url(role);
        if own.expose_secret().is_empty() { "database.service_password" } else { key }
    }

    /// The password with which a service logs in: that in its own URL where one is given, else `service_password`.
    ///
    /// # Errors
    /// When its URL logs in as somebody else.
    pub fn password_of(&self, role: ServiceRole) -> Result<Option<SecretString>, ConfigError> {
        let (key, own) = self.own_url(role);
        let text = own.expose_secret();
        if text.is_empty() {
            let password = &self.service_password;
            return Ok((!password.expose_secret().is_empty()).then(|| password.clone()));
        }
        let (user, password) = parse(text).map(|url| login(&url)).unwrap_or_default();
        let wanted = self.user_of(role);
        if user != wanted {
            return Err(ConfigError::Missing {
                key,
                message: format!("must log in as {wanted}, the role of that service"),
                variable: variable_of(key),
            });
        }
        Ok(password.map(SecretString::from))
    }

    /// The URL with which a service logs in: its own when one is given, else `url` with the role's
    /// user and `service_password`.
    ///
    /// # Errors
    /// When the URL is derived and `url` is not a Postgres URL.
    pub fn service_url(&self, role: ServiceRole) -> Result<SecretString, ConfigError> {
        let (_, own) = self.own_url(role);
        if !own.expose_secret().is_empty() {
            return Ok(own.clone());
        }
        derive(self.url.expose_secret(), &self.user_of(role), self.service_password.expose_secret())
            .map(SecretString::from)
            .ok_or_else(|| ConfigError::Missing {
                key: "database.url",
                message: FORM.to_owned(),
                variable: variable_of("database.url"),
            })
    }

    /// How many connections of an api process the requests of one tenant may have at once: never more than half, so that there is
    /// always one for others; of a single connection that one.
    #[must_use]
    pub fn tenant_turns(&self) -> TurnLimits {
        let most = (self.api_connections / 2).max(1);
        TurnLimits {
            at_once: self.tenant_connections.min(most) as usize,
            waiting: self.tenant_waiting as usize,
            wait: self.tenant_wait,
        }
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        for (key, url) in [
            ("database.url", &self.url),
            ("database.api_url", &self.api_url),
            ("database.submit_url", &self.submit_url),
            ("database.scheduler_url", &self.scheduler_url),
            ("database.rm_url", &self.rm_url),
            ("database.notifier_url", &self.notifier_url),
            ("database.admin_url", &self.admin_url),
        ] {
            let text = url.expose_secret();
            checks.rule(key, text.is_empty() || parse(text).is_some(), FORM);
        }
        checks.rule(
            "database.role_prefix",
            is_prefix(&self.role_prefix),
            "must be empty, or 1 to 40 of a-z 0-9 _ that begin with a letter",
        );
        checks.number("database.api_connections", self.api_connections, 1..=1000);
        checks.number("database.tenant_connections", self.tenant_connections, 1..=1000);
        checks.number("database.tenant_waiting", self.tenant_waiting, 0..=10_000);
        checks.duration("database.tenant_wait", self.tenant_wait, ms(10)..=secs(60));
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

fn is_prefix(text: &str) -> bool {
    text.len() <= 40
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && text.bytes().next().is_none_or(|b| b.is_ascii_lowercase())
}

/// Whom a URL logs in, and with which password: where the host is, or in the query.
fn login(url: &Url) -> (String, Option<String>) {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (mut user, mut password) = (decoded(url.username()), url.password().map(decoded));
    for (key, value) in url.query_pairs() {
        match &*key {
            "user" => user = value.into_owned(),
            "password" => password = Some(value.into_owned()),
            _ => {}
        }
    }
    (user, password)
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
