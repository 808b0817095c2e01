//! `berth login`.
//!
//! Asks the server whether it takes the key before it keeps it: a typing mistake shows now and not in a script at night.

use super::connection::ConnectionArguments;
use super::failure::failure;
use super::profile::{Kept, Profile};
use super::secret_line;
use crate::failure::{Exit, Failure};
use crate::output;
use client::{Client, PageRequest, TaskFilter};
use runtime::config::ExposeSecret;

/// How to keep a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  berth login --server https://berth.example.com\n  \
                  berth login --profile staging --server https://staging.example.com < key.txt\n\n\
                  The key is prompted for, or read from standard input, BERTH_API_KEY or --api-key. It is stored in\n\
                  ~/.config/berth/config.toml (or $XDG_CONFIG_HOME), readable only by you.")]
pub struct LoginArguments {
    /// Do not check the key with the server.
    #[arg(long)]
    pub offline: bool,
}

/// Keeps a server and its key, and uses them from now on.
pub async fn run(
    connection: &ConnectionArguments,
    arguments: &LoginArguments,
) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    let (name, server) = connection.to_keep(&kept);
    let api_key = match connection.api_key.clone() {
        Some(key) => key,
        None => secret_line::ask(&format!("API key for {server}"))?,
    };
    if api_key.expose_secret().trim().is_empty() {
        return Err(Failure::usage(
            "the key is empty; an operator can create one with `berth admin key create`",
        ));
    }
    let client = Client::builder(server.as_str())
        .api_key(api_key.clone())
        .build()
        .map_err(|error| failure(&error))?;
    if !arguments.offline {
        let page = PageRequest { limit: Some(1), cursor: None };
        match client.list(&TaskFilter::default(), &page).await {
            Ok(_) => {}
            // A good key that may not read is a good key.
            Err(error) if error.api().is_some_and(|problem| problem.status == 403) => {}
            Err(error) => {
                let failure = failure(&error);
                let reached = failure.exit() != Exit::Unreachable;
                let hint = if reached { "" } else { " To store it anyway, add --offline." };
                return Err(failure.adding(hint));
            }
        }
    }
    let path = kept.keep(&name, &Profile::of_customer(&server, api_key))?;
    output::remark(&format!(
        "Stored {server} as the current profile `{name}` in {}.",
        path.display()
    ));
    Ok(())
}
