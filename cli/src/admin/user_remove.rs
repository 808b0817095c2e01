//! `berth admin user remove`: a user of a tenant goes, with their sign-ins and keys.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure, show_removed_user};
use crate::failure::Failure;

/// A user to remove.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin user remove --tenant acme --email ann@example.com")]
pub struct UserRemoveArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
    /// E-mail address or id of the user.
    #[arg(long)]
    pub email: String,
    /// Only if the user has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Removes the user.
pub async fn run(arguments: &UserRemoveArguments, connection: &Connection) -> Result<(), Failure> {
    let UserRemoveArguments { tenant, email, if_version } = arguments;
    let tenant = id_of(connection, tenant).await?;
    let removed = connection.client.remove_tenant_user(tenant, email, *if_version).await;
    show_removed_user(connection, &removed.map_err(|error| operator_failure(&error))?)
}
