//! Which server, with which key, and for whom the answer is.
//!
//! What is typed or set in the environment comes first, then the profile. The rule: a profile's key goes to that profile's
//! server only.

use super::failure::failure;
use super::profile::{Kept, Profile, USUAL, same_server};
use crate::failure::{Exit, Failure};
use crate::output::Format;
use client::Client;
use runtime::config::{ExposeSecret, SecretString};
use std::convert::Infallible;

/// Where a server is when nobody says otherwise.
const USUAL_SERVER: &str = "http://127.0.0.1:8080";

/// Which server, with which key.
#[derive(Debug, Clone, clap::Args)]
pub struct ConnectionArguments {
    /// URL of the API. Default: that of the profile, or http://127.0.0.1:8080.
    #[arg(long, global = true, env = "BERTH_SERVER", value_name = "URL")]
    pub server: Option<String>,
    /// API key. Prefer BERTH_API_KEY or `berth login`: other users can see arguments.
    #[arg(long, global = true, env = "BERTH_API_KEY", hide_env_values = true, value_name = "KEY", value_parser = secret)]
    pub api_key: Option<SecretString>,
    /// Profile, as stored by `berth login`.
    #[arg(long, global = true, env = "BERTH_PROFILE", value_name = "NAME")]
    pub profile: Option<String>,
}

impl ConnectionArguments {
    /// The server, and the key for it: `own_key`, or what `kept` gives of the profile.
    fn choose(
        &self,
        own_key: Option<&SecretString>,
        kept: impl FnOnce(Profile) -> Option<SecretString>,
    ) -> Result<(String, Option<SecretString>), Failure> {
        let own_key = own_key.filter(|key| !key.expose_secret().trim().is_empty()).cloned();
        // With both given, and no profile asked for, what was kept does not matter, not even that it cannot be read.
        let profile = match (&self.profile, &self.server, &own_key) {
            (None, Some(_), Some(_)) => None,
            (name, _, _) => Kept::read()?.profile(name.as_deref())?,
        };
        let (server, profile) = choose(self.server.as_deref(), profile);
        Ok((server, own_key.or_else(|| profile.and_then(kept))))
    }

    /// Under which name a server is to be kept, and which server: where none is given, that of the profile, or the usual one. Without a
    /// name and a server it is the current profile.
    pub(crate) fn to_keep(&self, kept: &Kept) -> (String, String) {
        let current = kept.current().filter(|_| self.server.is_none());
        let name = self.profile.as_deref().or(current).unwrap_or(USUAL).to_owned();
        let before = kept.profile(Some(&name)).ok().flatten().map(|profile| profile.server);
        let server = self.server.clone().or(before);
        (name, server.unwrap_or_else(|| USUAL_SERVER.to_owned()))
    }
}

/// A client and what to do with its answers.
#[derive(Debug)]
pub struct Connection {
    pub client: Client,
    pub format: Format,
}

impl Connection {
    /// A client for one command. Connects to nobody yet.
    pub fn new(arguments: &ConnectionArguments, format: Format) -> Result<Self, Failure> {
        let (server, key) =
            arguments.choose(arguments.api_key.as_ref(), |profile| profile.api_key)?;
        let key = key.ok_or_else(|| {
            Failure::new(
                Exit::NotAllowed,
                "no API key is given; keep one with `berth login`, set BERTH_API_KEY, or give --api-key. An operator makes one \
                 with `berth admin key create`",
            )
        })?;
        Self::with(server, key, format)
    }

    /// The same for an operator, with `own_key` where one is given.
    pub fn of_operator(
        arguments: &ConnectionArguments,
        own_key: Option<&SecretString>,
        format: Format,
    ) -> Result<Self, Failure> {
        let (server, key) = arguments.choose(own_key, |profile| profile.operator_key)?;
        let key = key.ok_or_else(|| {
            Failure::new(
                Exit::NotAllowed,
                format!(
                    "no operator key for {server} is given; keep one with `berth admin login`, set BERTH_OPERATOR_KEY, or give \
                     --operator-key. The first key is made on the database: `berth admin operator-key create --first`. \
                     `berth up` writes one into operator.env of its data folder"
                ),
            )
        })?;
        Self::with(server, key, format)
    }

    fn with(server: String, key: SecretString, format: Format) -> Result<Self, Failure> {
        let client =
            Client::builder(server).api_key(key).build().map_err(|error| failure(&error))?;
        Ok(Self { client, format })
    }
}

fn choose(server: Option<&str>, profile: Option<Profile>) -> (String, Option<Profile>) {
    match (server, profile) {
        (None, None) => (USUAL_SERVER.to_owned(), None),
        (None, Some(profile)) => (profile.server.clone(), Some(profile)),
        (Some(server), profile) => {
            (server.to_owned(), profile.filter(|profile| same_server(server, &profile.server)))
        }
    }
}

/// A secret as it is typed.
pub(crate) fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profiles_key_goes_to_its_own_server_only() {
        let profile = || Some(Profile::of_customer("https://a", "k".to_owned().into()));
        assert_eq!(choose(None, profile()).0, "https://a");
        assert!(choose(None, profile()).1.is_some());
        assert!(choose(Some("https://a/"), profile()).1.is_some());
        assert!(choose(Some("https://b"), profile()).1.is_none());
        assert_eq!(choose(None, None).0, USUAL_SERVER);
    }
}
