//! `berth admin operator-key revoke`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::KeyId;

/// Which key.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin operator-key revoke q2mnv5c7xk3a")]
pub struct OperatorKeyRevokeArguments {
    /// Key id: the third part of the key.
    pub id: KeyId,
}

/// Ends the key; every api process refuses it within 2 s.
pub async fn run(
    arguments: &OperatorKeyRevokeArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let revoked = connection.client.revoke_operator_key(&arguments.id).await;
    let revoked = revoked.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(revoked.json()),
        Format::Table => output::line(&format!("{} revoked", revoked.id)),
    }
}
