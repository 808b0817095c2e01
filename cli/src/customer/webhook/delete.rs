//! `berth webhook delete`.

use super::super::connection::Connection;
use super::super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::WebhookName;

/// Which webhook.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth webhook delete ops")]
pub struct DeleteArguments {
    /// Name.
    pub name: WebhookName,
    /// Only if the webhook has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Deletes a webhook.
pub async fn run(connection: &Connection, arguments: &DeleteArguments) -> Result<(), Failure> {
    let DeleteArguments { name, if_version } = arguments;
    let deleted = connection.client.delete_webhook(name, *if_version).await;
    let deleted = deleted.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("Webhook `{name}` is deleted.")),
    }
}
