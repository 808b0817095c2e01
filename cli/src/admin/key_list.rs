//! `berth admin key list`.

use super::tenant_show::id_of;
use crate::customer::{Connection, KEY_COLUMNS, key_row, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::PageRequest;
use runtime::clock;

/// Whose keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin key list --tenant acme")]
pub struct KeyListArguments {
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
}

/// Shows the keys that were not revoked.
pub async fn run(arguments: &KeyListArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let (mut table, now) = (Table::new(KEY_COLUMNS), clock::wall());
    let mut request = Some(PageRequest { limit: Some(200), cursor: None });
    while let Some(page) = request {
        let keys = connection.client.tenant_keys(tenant, &page).await;
        let keys = keys.map_err(|error| operator_failure(&error))?;
        match connection.format {
            Format::Json => output::document(keys.json())?,
            Format::Table => {
                keys.data.iter().for_each(|key| table.row(key_row(key, now)));
                output::text(&table.take())?;
            }
        }
        request = keys.next(&page);
    }
    Ok(())
}
