//! `berth admin key create`.
//!
//! The key goes to standard output, alone, so that a script can take it; what is said about it goes to standard error.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure, show_key};
use crate::failure::Failure;
use crate::lifetime::lifetime;
use crate::output::{self, Format};
use chrono::TimeDelta;
use domain::access::Scope;

/// What can be said about a new key.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  BERTH_API_KEY=$(berth admin key create --tenant acme --name ci --scope read --scope submit --expires-in 90d)"
)]
pub struct KeyCreateArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
    /// Name of the key.
    #[arg(long)]
    pub name: String,
    /// Scope: read, submit, approve or admin; repeatable. No scope includes another.
    #[arg(long = "scope", required = true, value_name = "SCOPE")]
    pub scopes: Vec<Scope>,
    /// Lifetime, such as 90d or 12h. Default: no expiry.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires_in: Option<TimeDelta>,
}

/// Makes a key and prints it once.
pub async fn run(arguments: &KeyCreateArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let life = arguments.expires_in.and_then(|life| life.to_std().ok());
    let (name, scopes) = (&arguments.name, &arguments.scopes);
    let made = connection.client.create_tenant_key(tenant, name, scopes, life).await;
    let made = made.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(made.json()),
        Format::Table => show_key(&made),
    }
}
