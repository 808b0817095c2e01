//! `berth admin key list`.

use super::{database, tenant_keys};
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use crate::settings_arguments::SettingsArguments;
use domain::time::Timestamp;
use runtime::{clock, config};
use serde_json::json;
use store::key::{KeyInfo, KeyPosition};

/// Whose keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth admin key list --tenant acme")]
pub struct KeyListArguments {
    /// Name of the tenant.
    #[arg(long)]
    pub tenant: String,
    #[command(flatten)]
    settings: SettingsArguments,
}

const PAGE: u32 = 200;

/// Shows the keys that were not revoked.
pub async fn run(arguments: &KeyListArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let (db, scope) = tenant_keys::scoped(&config, &arguments.tenant).await?;
    let (mut table, now) = (Table::new(crate::customer::KEY_COLUMNS), clock::wall());
    let mut after: Option<KeyPosition> = None;
    loop {
        let keys = store::key::list(&db, &scope, None, after.as_ref(), PAGE).await;
        let keys = keys.map_err(|error| database::failure(&error))?;
        for key in &keys {
            match format {
                Format::Json => output::line(&shown(key).to_string())?,
                Format::Table => table.row(row(key, now)),
            }
        }
        after = keys
            .last()
            .filter(|_| keys.len() == PAGE as usize)
            .map(|key| KeyPosition { created_at: key.created_at, id: key.id.clone() });
        if after.is_none() {
            break;
        }
    }
    db.close().await;
    if format == Format::Table { output::text(&table.take()) } else { Ok(()) }
}

/// As the API shows a key.
pub(super) fn shown(key: &KeyInfo) -> serde_json::Value {
    json!({"id": key.id, "name": key.name, "scopes": key.scopes, "user": key.user, "created_at": key.created_at,
        "expires_at": key.expires_at, "last_used_at": key.last_used_at, "replaced_by": key.replaced_by})
}

fn row(key: &KeyInfo, now: Timestamp) -> [String; 6] {
    let ago = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| age::ago(at, now));
    [
        key.id.clone(),
        key.name.clone(),
        key.scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        age::ago(key.created_at, now),
        ago(key.last_used_at),
        ago(key.expires_at),
    ]
}
