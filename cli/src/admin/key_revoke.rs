//! `berth admin key revoke`.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::KeyId;

/// Which key.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin key revoke --tenant acme q2mnv5c7xk3a")]
pub struct KeyRevokeArguments {
    /// Key id: the third part of the key.
    pub id: KeyId,
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
}

/// Ends the key; every api process refuses it within 2 s.
pub async fn run(arguments: &KeyRevokeArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let revoked = connection.client.revoke_tenant_key(tenant, &arguments.id).await;
    let revoked = revoked.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(revoked.json()),
        Format::Table => output::line(&format!("{} revoked", revoked.id)),
    }
}
