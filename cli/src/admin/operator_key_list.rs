//! `berth admin operator-key list`.

use super::database;
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use crate::settings_arguments::SettingsArguments;
use domain::time::Timestamp;
use runtime::{clock, config};
use serde_json::json;
use store::operator_key::OperatorKeyInfo;

/// Shows the keys that were not revoked.
pub async fn run(arguments: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.config.as_deref())?;
    let db = database::open(&config)?;
    let keys = store::operator_key::list(&db).await;
    db.close().await;
    let keys = keys.map_err(|error| database::failure(&error))?;
    let (mut table, now) = (Table::new(crate::customer::KEY_COLUMNS), clock::wall());
    for key in &keys {
        match format {
            Format::Json => output::line(&shown(key).to_string())?,
            Format::Table => table.row(row(key, now)),
        }
    }
    if format == Format::Table { output::text(&table.take()) } else { Ok(()) }
}

pub(super) fn shown(key: &OperatorKeyInfo) -> serde_json::Value {
    json!({"id": key.id, "name": key.name, "scopes": key.scopes, "created_at": key.created_at,
        "expires_at": key.expires_at, "last_used_at": key.last_used_at, "replaced_by": key.replaced_by})
}

fn row(key: &OperatorKeyInfo, now: Timestamp) -> [String; 6] {
    let ago = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| age::ago(at, now));
    [
        key.id.clone(),
        key.name.clone(),
        key.scopes.join(","),
        age::ago(key.created_at, now),
        ago(key.last_used_at),
        ago(key.expires_at),
    ]
}
