//! Which server, with which key, and for whom the answer is.

use super::failure::failure;
use crate::failure::{Exit, Failure};
use crate::output::Format;
use client::Client;
use runtime::config::{ExposeSecret, SecretString};
use std::convert::Infallible;

/// Which server, with which key.
#[derive(Debug, Clone, clap::Args)]
pub struct ConnectionArguments {
    /// URL of the API.
    #[arg(
        long,
        global = true,
        env = "BERTH_SERVER",
        default_value = "http://127.0.0.1:8080",
        value_name = "URL"
    )]
    pub server: String,
    /// API key. Better given as BERTH_API_KEY: arguments show in the list of processes.
    #[arg(long, global = true, env = "BERTH_API_KEY", hide_env_values = true, value_name = "KEY", value_parser = secret)]
    pub api_key: Option<SecretString>,
}

/// A client and what to do with its answers.
#[derive(Debug)]
pub struct Connection {
    pub client: Client,
    pub format: Format,
}

impl Connection {
    /// A client for one command. Connects to nobody yet.
    pub fn new(arguments: ConnectionArguments, format: Format) -> Result<Self, Failure> {
        let key = arguments.api_key.filter(|key| !key.expose_secret().trim().is_empty()).ok_or_else(|| {
            Failure::new(
                Exit::NotAllowed,
                "no API key is given; set BERTH_API_KEY, or give --api-key. An operator makes one with `berth admin key create`",
            )
        })?;
        let client = Client::builder(arguments.server)
            .api_key(key)
            .build()
            .map_err(|error| failure(&error))?;
        Ok(Self { client, format })
    }
}

fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text.to_owned()))
}
