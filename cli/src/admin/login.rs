//! `berth admin login`.
//!
//! Like `berth login`, with an operator key: both may be kept in one profile.

use crate::customer::{ConnectionArguments, Kept, Profile, ask_secret, operator_failure};
use crate::failure::Failure;
use crate::output;
use client::{Client, ErrorCode};
use runtime::config::{ExposeSecret, SecretString};

/// How to keep a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin login --server https://berth.example.com\n\n\
                  The key is prompted for, or read from standard input, BERTH_OPERATOR_KEY or --operator-key. It is stored in\n\
                  the profile beside the API key, readable only by you.")]
pub struct LoginArguments {
    /// Do not check the key with the server.
    #[arg(long)]
    pub offline: bool,
}

/// Keeps a server and an operator key, and uses them from now on.
pub async fn run(
    arguments: &LoginArguments,
    connection: &ConnectionArguments,
    key: Option<&SecretString>,
) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    let (name, server) = connection.to_keep(&kept);
    let key = match key {
        Some(key) => key.clone(),
        None => ask_secret(&format!("Operator key for {server}"))?,
    };
    if key.expose_secret().trim().is_empty() {
        return Err(Failure::usage("the key is empty"));
    }
    let client = Client::builder(server.as_str()).api_key(key.clone()).build();
    let client = client.map_err(|error| operator_failure(&error))?;
    if !arguments.offline {
        match client.operator().await {
            Ok(_) => {}
            // A good key that may not read is a good key.
            Err(error)
                if error.api().is_some_and(|problem| problem.is(ErrorCode::ScopeMissing)) => {}
            Err(error) => return Err(operator_failure(&error)),
        }
    }
    let path = kept.keep(&name, &Profile::of_operator(&server, key))?;
    output::remark(&format!(
        "Stored {server} as the current profile `{name}` in {}.",
        path.display()
    ));
    Ok(())
}
