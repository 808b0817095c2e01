//! `berth login`.
//!
//! Asks the server whether it takes the key before it keeps it: a typing mistake shows now and not in a script at night.

use super::connection::{ConnectionArguments, USUAL_SERVER};
use super::failure::failure;
use super::profile::{Kept, Profile, USUAL};
use crate::failure::{Exit, Failure};
use crate::output;
use client::{Client, PageRequest, TaskFilter};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use runtime::config::{ExposeSecret, SecretString};
use std::io::{BufRead, IsTerminal, stdin};

/// How to keep a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  berth login --server https://berth.example.com\n  \
                  berth login --profile staging --server https://staging.example.com < key.txt\n\n\
                  The key is asked for, or read from standard input, BERTH_API_KEY or --api-key. It is kept in\n\
                  ~/.config/berth/config.toml (or $XDG_CONFIG_HOME), which only you can read.")]
pub struct LoginArguments {
    /// Keep it without asking the server whether it takes the key.
    #[arg(long)]
    pub offline: bool,
}

/// Keeps a server and its key, and uses them from now on.
pub async fn run(
    connection: &ConnectionArguments,
    arguments: &LoginArguments,
) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    let name = connection.profile.clone().unwrap_or_else(|| USUAL.to_owned());
    let before = kept.profile(Some(&name)).ok().flatten().map(|profile| profile.server);
    let server = connection.server.clone().or(before).unwrap_or_else(|| USUAL_SERVER.to_owned());
    let api_key = match connection.api_key.clone() {
        Some(key) => key,
        None => ask(&server)?,
    };
    if api_key.expose_secret().trim().is_empty() {
        return Err(Failure::usage(
            "the key is empty; an operator makes one with `berth admin key create`",
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
                let hint = if reached { "" } else { " To keep it anyway, add --offline." };
                return Err(failure.adding(hint));
            }
        }
    }
    let path = kept.keep(&name, &Profile { server: server.clone(), api_key })?;
    output::remark(&format!(
        "{server} is profile `{name}` now, and in use; kept in {}.",
        path.display()
    ));
    Ok(())
}

/// The first line of standard input; on a terminal it does not show.
fn ask(server: &str) -> Result<SecretString, Failure> {
    let input = stdin();
    let hidden = input.is_terminal().then(|| {
        output::remark(&format!("API key for {server} (it does not show):"));
        Hidden::begin()
    });
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    drop(hidden);
    read.map_err(|error| Failure::usage(format!("cannot read the key: {error}")))?;
    Ok(SecretString::from(line.trim().to_owned()))
}

/// The terminal without echo, until it is dropped.
struct Hidden(Option<nix::sys::termios::Termios>);

impl Hidden {
    fn begin() -> Self {
        let Ok(before) = tcgetattr(stdin()) else { return Self(None) };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        Self(tcsetattr(stdin(), SetArg::TCSANOW, &quiet).is_ok().then_some(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // Nothing is left to do where even that fails.
            let _as_before = tcsetattr(stdin(), SetArg::TCSANOW, before);
        }
    }
}
