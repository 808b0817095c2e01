//! `berth admin user put`: a user of a tenant under their address. For scripts: the same again changes nothing.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure, show_stored_user};
use crate::failure::Failure;
use domain::access::Role;

/// A user, new or as they are to be from now on.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin user put --tenant acme --email ann@example.com --role owner\n\n\
                  A new user is invited, and the token printed; who is there gets the role."
)]
pub struct UserPutArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
    /// E-mail address to sign in with; or the id of a user who exists.
    #[arg(long)]
    pub email: String,
    /// Role: owner, admin, developer, billing or viewer.
    #[arg(long)]
    pub role: Role,
    /// Only if the user has this version; 0: only if the user is new.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(0..))]
    pub if_version: Option<i64>,
}

/// Stores the user, and prints the token of a new one.
pub async fn run(arguments: &UserPutArguments, connection: &Connection) -> Result<(), Failure> {
    let UserPutArguments { tenant, email, role, if_version } = arguments;
    let tenant = id_of(connection, tenant).await?;
    let stored = connection.client.put_tenant_user(tenant, email, *role, *if_version);
    let stored = stored.await.map_err(|error| operator_failure(&error))?;
    show_stored_user(connection, &stored)
}
