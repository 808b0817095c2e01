//! `berth admin whoami`.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Details, Format};

/// Shows which server and operator the key is of, and what it may do.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let own = connection.client.operator().await.map_err(|error| operator_failure(&error))?;
    if connection.format == Format::Json {
        return output::document(own.json());
    }
    let mut details = Details::default();
    details.row("server", connection.client.server());
    details.row("operator", &own.name);
    details.row("key", &own.id);
    let scopes: Vec<_> = own.scopes.iter().map(ToString::to_string).collect();
    details.row("scopes", scopes.join(", "));
    let end = own.expires_at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    details.row("expires", end.unwrap_or_else(|| "never".to_owned()));
    output::text(&details.to_string())
}
