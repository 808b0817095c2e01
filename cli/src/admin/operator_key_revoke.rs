//! `berth admin operator-key revoke`.

use super::operator::OperatorSettings;
use super::{database, operator_key_list};
use crate::failure::{Exit, Failure};
use crate::output::{self, Format};
use runtime::config;

/// Which key.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin operator-key revoke q2mnv5c7xk3a")]
pub struct OperatorKeyRevokeArguments {
    /// Key id: the third part of the key.
    pub id: String,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Ends the key; every api process refuses it within 2 s.
pub async fn run(arguments: &OperatorKeyRevokeArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let revoked = store::operator_key::revoke(&db, &arguments.id, arguments.settings.by()).await;
    db.close().await;
    let revoked = revoked.map_err(|error| database::failure(&error))?;
    let key = revoked.ok_or_else(|| no_such_key(&arguments.id))?;
    match format {
        Format::Json => output::line(&operator_key_list::shown(&key).to_string()),
        Format::Table => output::line(&format!("{} revoked", key.id)),
    }
}

/// There is no such key.
pub(super) fn no_such_key(id: &str) -> Failure {
    let text = format!("no active operator key `{id}`");
    Failure::new(Exit::NotFound, text)
}
