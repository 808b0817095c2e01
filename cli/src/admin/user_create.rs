//! `berth admin user create` and `berth admin user list`.
//!
//! How a tenant gets its first owner: no API key makes owners. The token goes to standard output, alone, and nowhere else.

use super::tenant_show::id_of;
use crate::customer::{Connection, USER_COLUMNS, operator_failure, show_user, user_row};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::PageRequest;
use domain::access::Role;
use runtime::clock;

/// Who is invited.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin user create --tenant acme --email ann@example.com --role owner\n\n\
                  The user sets a password with `berth accept` and the printed token."
)]
pub struct UserCreateArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
    /// E-mail address to sign in with.
    #[arg(long)]
    pub email: String,
    /// Role: owner, admin, developer, billing or viewer.
    #[arg(long)]
    pub role: Role,
}

/// Whose users.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin user list --tenant acme")]
pub struct UserListArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
}

/// Stores the user and prints the invitation's token.
pub async fn run(arguments: &UserCreateArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let (email, role) = (&arguments.email, arguments.role);
    let made = connection.client.invite_tenant_user(tenant, email, role).await;
    let made = made.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(made.json()),
        Format::Table => show_user(&made),
    }
}

/// Shows every user of a tenant.
pub async fn list(arguments: &UserListArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let (mut table, now) = (Table::new(USER_COLUMNS), clock::wall());
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let users = connection.client.tenant_users(tenant, &page).await;
        let users = users.map_err(|error| operator_failure(&error))?;
        match connection.format {
            Format::Json => output::document(users.json())?,
            Format::Table => {
                users.data.iter().for_each(|user| table.row(user_row(user, now)));
                output::text(&table.take())?;
            }
        }
        request = users.next(&page);
    }
    Ok(())
}
