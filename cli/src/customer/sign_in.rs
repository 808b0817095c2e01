//! `berth sign-in` and `berth accept`: what a user of a tenant begins with.
//!
//! Signing in gives a token that is good for minutes, so it is used at once to make an API key with what the user's role may do, and that
//! is kept as `berth login` keeps one. The key goes when the user is removed.

use super::connection::ConnectionArguments;
use super::failure::{failure, of_a_guest};
use super::profile::{Kept, Profile};
use super::secret_line;
use super::sign_up::key_of;
use crate::failure::{Exit, Failure};
use crate::output;
use client::{Client, RetryPolicy};
use runtime::config::SecretString;
use std::time::Duration;

/// What the key is called.
const KEY_NAME: &str = "berth sign-in";
/// How long it is good.
const KEY_LIFE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Who signs in.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth sign-in ann@example.com --tenant acme --server https://berth.example.com\n\n\
                  The password is prompted for, or read from standard input. An API key with the scopes of your role, valid for 30 days,\n\
                  is created and stored as by `berth login`; `berth keys list` shows it."
)]
pub struct SignInArguments {
    /// E-mail address of the user.
    pub email: String,
    /// Name of the tenant.
    #[arg(long, value_name = "NAME")]
    pub tenant: String,
}

/// An invitation.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth accept berthinvite_… --server https://berth.example.com\n  berth accept --server https://berth.example.com < token-and-password.txt\n\n\
                  The token is printed by `berth users invite`; without one it is prompted for. Then a password of at least 12\n\
                  characters is prompted for."
)]
pub struct AcceptArguments {
    /// Invitation token. Prefer the prompt: other users can see arguments.
    #[arg(value_name = "TOKEN")]
    pub token: Option<String>,
}

/// Signs in and keeps the server with a key of the user.
pub async fn sign_in(
    connection: &ConnectionArguments,
    arguments: &SignInArguments,
) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    let (name, server) = connection.to_keep(&kept);
    let SignInArguments { email, tenant } = arguments;
    let password = secret_line::ask(&format!("Password of {email} at {server}"))?;
    let session = guest(&server)?.sign_in(tenant, email, &password).await;
    let session = session.map_err(|error| of_a_guest(&error))?;
    let token = SecretString::from(session.access_token.clone());
    let (api_key, what) = match key_of(&server, token.clone(), KEY_NAME, Some(KEY_LIFE)).await {
        Ok(key) => (key, "A key, valid for 30 days,"),
        // Some roles make no keys. What they have is the token.
        Err(refused) if refused.exit() == Exit::NotAllowed => {
            (token, "Your role cannot create keys, so a token, valid for some minutes,")
        }
        Err(failed) => return Err(failed),
    };
    let path = kept.keep(&name, &Profile::of_customer(&server, api_key))?;
    output::remark(&format!(
        "{email} of `{tenant}` is signed in at {server}. {what} is stored as the current profile `{name}` in {}.",
        path.display()
    ));
    Ok(())
}

/// Accepts an invitation: sets the password.
pub async fn accept(
    connection: &ConnectionArguments,
    arguments: &AcceptArguments,
) -> Result<(), Failure> {
    let (_, server) = connection.to_keep(&Kept::read()?);
    let token = match &arguments.token {
        Some(token) => SecretString::from(token.clone()),
        None => secret_line::ask("Invitation token")?,
    };
    let password = secret_line::ask(&format!("New password at {server}, at least 12 characters"))?;
    let accepted = guest(&server)?.accept_invitation(&token, &password).await;
    let accepted = accepted.map_err(|error| of_a_guest(&error))?;
    output::remark(&format!(
        "The password of {} is set. To sign in: berth sign-in {} --tenant NAME --server {server}",
        accepted.email, accepted.email
    ));
    Ok(())
}

/// A client without a credential, which repeats nothing.
pub(super) fn guest(server: &str) -> Result<Client, Failure> {
    let client = Client::builder(server).retry(RetryPolicy::NEVER).build();
    client.map_err(|error| failure(&error))
}
