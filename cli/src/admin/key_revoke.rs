//! `berth admin key revoke`.

use super::operator::OperatorSettings;
use super::{database, tenant_keys};
use crate::failure::Failure;
use crate::output::{self, Format};
use runtime::config;

/// Which key.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin key revoke --tenant acme q2mnv5c7xk3a")]
pub struct KeyRevokeArguments {
    /// Key id: the third part of the key.
    pub id: String,
    /// Name of the tenant.
    #[arg(long)]
    pub tenant: String,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Ends the key; every api process refuses it within 2 s.
pub async fn run(arguments: &KeyRevokeArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let (db, scope) = tenant_keys::scoped(&config, &arguments.tenant).await?;
    let scope = scope.acting(arguments.settings.by());
    let revoked = store::key::revoke(&db, &scope, None, &arguments.id).await;
    db.close().await;
    let revoked = revoked.map_err(|error| database::failure(&error))?;
    let key = revoked.ok_or_else(|| tenant_keys::no_such_key(&arguments.id, &arguments.tenant))?;
    match format {
        Format::Json => output::line(&super::key_list::shown(&key).to_string()),
        Format::Table => output::line(&format!("{} revoked", key.id)),
    }
}
