//! `berth admin key rotate`.

use super::tenant_show::id_of;
use crate::customer::{Connection, operator_failure, show_key};
use crate::failure::Failure;
use crate::lifetime::overlap;
use crate::output::{self, Format, age};
use chrono::TimeDelta;
use client::KeyId;
use runtime::clock;

/// Which key, and how.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin key rotate --tenant acme q2mnv5c7xk3a --overlap 1h"
)]
pub struct KeyRotateArguments {
    /// Key id: the third part of the key.
    pub id: KeyId,
    /// Name or id of the tenant.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: String,
    /// Time for which the old key stays valid, such as 0s, 12h or 7d; up to 30d. Default: 24h.
    #[arg(long, value_name = "DURATION", value_parser = overlap)]
    pub overlap: Option<TimeDelta>,
}

/// Makes a key in the place of another and prints it once.
pub async fn run(arguments: &KeyRotateArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let overlap = arguments.overlap.and_then(|overlap| overlap.to_std().ok());
    let rotated = connection.client.rotate_tenant_key(tenant, &arguments.id, overlap).await;
    let rotated = rotated.map_err(|error| operator_failure(&error))?;
    if connection.format == Format::Json {
        return output::document(rotated.json());
    }
    if let Some(end) = rotated.old.expires_at {
        let end = age::ago(end, clock::wall());
        output::remark(&format!("The old key `{}` ends {end}.", rotated.old.id));
    }
    show_key(&rotated.new)
}
