//! `berth sign-up`.
//!
//! Becomes a customer, makes a first key and keeps it, so that the next command works.

use super::connection::ConnectionArguments;
use super::failure::failure;
use super::profile::{Kept, Profile};
use super::secret_line;
use crate::failure::Failure;
use crate::output;
use client::{Client, RetryPolicy};
use domain::access::{Permission, Scope};
use runtime::config::SecretString;
use std::time::Duration;

/// What the first key is called.
const KEY_NAME: &str = "berth sign-up";

/// Who wants to be a customer.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth sign-up --server https://berth.example.com --tenant acme --email ann@example.com\n\n\
                  The password of at least 12 characters is prompted for, or read from standard input. A first API key with all\n\
                  scopes is stored as by `berth login`. Only if the server allows it (auth.sign_up_plan)."
)]
pub struct SignUpArguments {
    /// Name of the new tenant; must be unique.
    #[arg(long, value_name = "NAME")]
    pub tenant: String,
    /// E-mail address of its owner.
    #[arg(long, value_name = "ADDRESS")]
    pub email: String,
}

/// Signs up and keeps the server with a key of the new tenant.
pub async fn run(
    connection: &ConnectionArguments,
    arguments: &SignUpArguments,
) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    let (name, server) = connection.to_keep(&kept);
    if kept.profile(Some(&name)).is_ok() {
        return Err(Failure::usage(format!(
            "the profile `{name}` already exists; choose another with --profile for the key of the new tenant"
        )));
    }
    let SignUpArguments { tenant, email } = arguments;
    let password = secret_line::ask(&format!("New password for {email} at {server}"))?;
    let client = Client::builder(server.as_str()).retry(RetryPolicy::NEVER).build();
    let client = client.map_err(|error| failure(&error))?;
    let session = client.sign_up(tenant, email, &password).await;
    let session = session.map_err(|error| failure(&error))?;
    let api_key = key_of(&server, session.access_token.clone().into(), KEY_NAME, None).await.map_err(|failed| {
        failed.adding(&format!(
            " The tenant `{tenant}` was created but has no key: create one with `berth sign-in {email} --tenant {tenant}`."
        ))
    })?;
    let path = kept.keep(&name, &Profile::of_customer(&server, api_key))?;
    output::remark(&format!(
        "{email} owns the tenant `{tenant}` at {server}. Its first key is stored as the current profile `{name}` in {}.",
        path.display()
    ));
    Ok(())
}

/// A key that whoever is signed in makes for themselves: with every scope that their role can give, for ever or for so long.
pub(super) async fn key_of(
    server: &str,
    access_token: SecretString,
    name: &str,
    life: Option<Duration>,
) -> Result<SecretString, Failure> {
    let client = Client::builder(server).api_key(access_token).build();
    let client = client.map_err(|error| failure(&error))?;
    let own = client.who_am_i().await.map_err(|error| failure(&error))?;
    let may = |scope: &Scope| {
        let mut needed =
            Permission::ALL.into_iter().filter(|one| scope.permissions().contains(*one));
        needed.all(|one| own.permissions.iter().any(|held| *held == one))
    };
    let scopes: Vec<Scope> = Scope::ALL.into_iter().filter(may).collect();
    let made = client.create_key(name, &scopes, life).await;
    let made = made.map_err(|error| failure(&error))?.into_value();
    let lost = || Failure::failed("a key was created, but the response with its text was lost.");
    made.key.map(SecretString::from).ok_or_else(lost)
}
