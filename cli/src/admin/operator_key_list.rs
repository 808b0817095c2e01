//! `berth admin operator-key list`.

use crate::customer::{Connection, KEY_COLUMNS, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::OperatorKey;
use domain::time::Timestamp;
use runtime::clock;

/// Shows the keys that were not revoked.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let keys = connection.client.operator_keys().await.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(keys.json()),
        Format::Table => {
            let (mut table, now) = (Table::new(KEY_COLUMNS), clock::wall());
            keys.data.iter().for_each(|key| table.row(row(key, now)));
            output::text(&table.take())
        }
    }
}

fn row(key: &OperatorKey, now: Timestamp) -> [String; 6] {
    let ago = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| age::ago(at, now));
    [
        key.id.to_string(),
        key.name.clone(),
        key.scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        age::ago(key.created_at, now),
        ago(key.last_used_at),
        ago(key.expires_at),
    ]
}
