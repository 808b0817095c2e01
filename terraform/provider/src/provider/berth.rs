//! The provider's settings, and the clients that they make.

use super::Problem;
use crate::schema::{Attribute, Given};
use crate::value::Value;
use client::Client;
use secrecy::SecretString;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One server, with the keys that the provider was given. Clones share everything.
#[derive(Clone)]
pub struct Berth {
    operator: Access,
    tenant: Access,
    /// Keys and invitations that this process made, by id: for the ephemeral resource that asks for them.
    new: Arc<Mutex<HashMap<String, SecretString>>>,
}

#[derive(Clone)]
enum Access {
    Client(Client),
    NotYet,
    NotGiven,
}

/// The provider's attributes.
#[must_use]
pub fn settings() -> Vec<Attribute> {
    let key = |name, text| Attribute::text(name, Given::Optional, text).sensitive();
    vec![
        Attribute::text(
            "server",
            Given::Optional,
            "URL of the server, such as `https://berth.example.com`. Default: `BERTH_SERVER`.",
        ),
        key(
            "operator_key",
            "Key of an operator, for plans, price books, pools, tenants and how they are billed, operator keys, \
             and keys and users of a named tenant. Default: `BERTH_OPERATOR_KEY`.",
        ),
        key(
            "api_key",
            "Key of a tenant, for schedules, workflows, concurrency limits, spend caps, and its \
             own keys and users. Default: `BERTH_API_KEY`.",
        ),
    ]
}

impl Berth {
    /// Before it is configured.
    #[must_use]
    pub fn unconfigured() -> Self {
        Self { operator: Access::NotYet, tenant: Access::NotYet, new: Arc::default() }
    }

    /// With these settings; what they lack is in the environment.
    ///
    /// # Errors
    /// A server or a key that cannot be one.
    pub fn configured(
        config: &Value,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Problem> {
        let given = |name: &str, variable: &str| match config.get(name) {
            Value::Unknown => Err(()),
            Value::Text(text) => Ok(Some(text.clone())),
            _ => Ok(environment(variable).filter(|text| !text.is_empty())),
        };
        let server = given("server", "BERTH_SERVER");
        let access = |name, variable| match (&server, given(name, variable)) {
            (_, Ok(None)) => Ok(Access::NotGiven),
            (Err(()), _) | (_, Err(())) => Ok(Access::NotYet),
            (Ok(None), _) => Err(Problem::at(
                "server",
                "No server",
                "Set `server` of the provider, or BERTH_SERVER.",
            )),
            (Ok(Some(server)), Ok(Some(key))) => Client::builder(server.clone())
                .api_key(key)
                .build()
                .map(Access::Client)
                .map_err(Problem::from),
        };
        Ok(Self {
            operator: access("operator_key", "BERTH_OPERATOR_KEY")?,
            tenant: access("api_key", "BERTH_API_KEY")?,
            new: Arc::default(),
        })
    }

    /// The client of an operator.
    ///
    /// # Errors
    /// When there is none.
    pub fn operator(&self) -> Result<&Client, Problem> {
        self.operator.client("operator_key", "BERTH_OPERATOR_KEY")
    }

    /// The client of a tenant.
    ///
    /// # Errors
    /// When there is none.
    pub fn tenant(&self) -> Result<&Client, Problem> {
        self.tenant.client("api_key", "BERTH_API_KEY")
    }

    /// Keeps a new secret for whoever asks in this process.
    pub fn keep(&self, id: &str, secret: Option<SecretString>) {
        if let Some(secret) = secret {
            self.secrets().insert(id.to_owned(), secret);
        }
    }

    /// A secret that this process made.
    #[must_use]
    pub fn kept(&self, id: &str) -> Option<SecretString> {
        self.secrets().get(id).cloned()
    }

    fn secrets(&self) -> std::sync::MutexGuard<'_, HashMap<String, SecretString>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Access {
    fn client(&self, name: &str, variable: &str) -> Result<&Client, Problem> {
        match self {
            Self::Client(client) => Ok(client),
            Self::NotYet => Err(Problem::NotYet),
            Self::NotGiven => Err(Problem::Said {
                path: None,
                summary: format!("The provider has no {name}"),
                detail: format!("Set `{name}` of the provider, or {variable}."),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_from_the_configuration_and_then_from_the_environment() {
        let none = |_: &str| None;
        let config = Value::from([
            ("server", "http://127.0.0.1:1".into()),
            ("operator_key", Value::Null),
            ("api_key", Value::Unknown),
        ]);
        let berth = Berth::configured(&config, none).unwrap_or_else(|_| panic!("refused"));
        assert!(matches!(berth.tenant(), Err(Problem::NotYet)));
        let Err(Problem::Said { summary, .. }) = berth.operator() else { panic!("given") };
        assert_eq!(summary, "The provider has no operator_key");
        let variables = |name: &str| (name == "BERTH_OPERATOR_KEY").then(|| "k".to_owned());
        let berth = Berth::configured(&config, variables).unwrap_or_else(|_| panic!("refused"));
        assert!(berth.operator().is_ok());
        assert!(Berth::configured(&Value::Null, variables).is_err());
    }
}
