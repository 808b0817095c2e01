//! `berth audit`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use chrono::SecondsFormat;
use client::{AuditEntry, AuditFilter, PageRequest};
use domain::time::Timestamp;

/// Which rows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth audit --action key.create --from 2030-01-31T00:00:00Z")]
pub struct AuditArguments {
    /// Done by this key or user: their id.
    #[arg(long, value_name = "ID")]
    pub actor: Option<String>,
    /// Of this action, such as key.create.
    #[arg(long)]
    pub action: Option<String>,
    /// At or after this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub from: Option<Timestamp>,
    /// Before this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub to: Option<Timestamp>,
    /// Rows on a page, 1 to 200.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: Option<u32>,
    /// Go on where a page ended.
    #[arg(long)]
    pub cursor: Option<String>,
    /// All pages, not only one.
    #[arg(long)]
    pub all: bool,
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
    let mut table = Table::new(COLUMNS);
    let mut next = Some(PageRequest { limit: arguments.limit, cursor: arguments.cursor.clone() });
    while let Some(request) = next.take() {
        let page = connection.client.audit(&filter, &request).await;
        let page = page.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => {
                page.data.iter().for_each(|entry| table.row(row(entry)));
                output::text(&table.take())?;
            }
        }
        if arguments.all {
            next = page.next(&request);
        } else if let (Format::Table, Some(cursor)) = (connection.format, &page.next_cursor) {
            output::remark(&format!("There are more: add --all, or --cursor {cursor}"));
        }
    }
    Ok(())
}

fn row(entry: &AuditEntry) -> [String; 6] {
    let actor = entry.actor.id.as_ref().unwrap_or(&entry.actor.kind);
    let target = entry.target.id.as_ref().unwrap_or(&entry.target.kind);
    [
        entry.position.map(|position| position.to_string()).unwrap_or_default(),
        entry.at.to_rfc3339_opts(SecondsFormat::Secs, true),
        actor.clone(),
        entry.action.clone(),
        target.clone(),
        entry.request_id.clone().unwrap_or_default(),
    ]
}
