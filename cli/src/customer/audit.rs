//! `berth audit`.

use super::connection::Connection;
use super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::Table;
use chrono::SecondsFormat;
use client::{ActorId, AuditAction, AuditEntry, AuditFilter, Extensible, PageRequest};
use domain::time::Timestamp;

/// Which rows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth audit --action key.create --from 2030-01-31T00:00:00Z")]
pub struct AuditArguments {
    /// Actor: id of a key or user.
    #[arg(long, value_name = "ID")]
    pub actor: Option<ActorId>,
    /// Action, such as key.create.
    #[arg(long)]
    pub action: Option<Extensible<AuditAction>>,
    /// At or after this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub from: Option<Timestamp>,
    /// Before this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub to: Option<Timestamp>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 6] = ["POSITION", "AT", "ACTOR", "ACTION", "TARGET", "REQUEST"];

/// Shows who changed what, newest first.
pub async fn run(connection: &Connection, arguments: &AuditArguments) -> Result<(), Failure> {
    let filter = AuditFilter {
        actor: arguments.actor.clone(),
        action: arguments.action.clone(),
        from: arguments.from,
        to: arguments.to,
    };
    let ask = async |page: &PageRequest| connection.client.audit(&filter, page).await;
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

fn row(entry: &AuditEntry) -> [String; 6] {
    let actor =
        entry.actor.id.as_ref().map_or_else(|| entry.actor.kind.to_string(), ToString::to_string);
    let target =
        entry.target.id.as_ref().map_or_else(|| entry.target.kind.to_string(), ToString::to_string);
    [
        entry.position.map(|position| position.to_string()).unwrap_or_default(),
        entry.at.to_rfc3339_opts(SecondsFormat::Secs, true),
        actor,
        entry.action.to_string(),
        target,
        entry.request_id.as_ref().map(ToString::to_string).unwrap_or_default(),
    ]
}
