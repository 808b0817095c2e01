//! `berth concurrency`: list, show, set, delete.

use super::connection::Connection;
use super::failure::failure;
use super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table, age};
use client::{ApiResponse, ClientError, ConcurrencyLimit, PageRequest};
use domain::batch::ConcurrencyKey;
use domain::time::Timestamp;
use runtime::clock;

/// Which limits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth concurrency list --all")]
pub struct ConcurrencyListArguments {
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

/// Which key.
#[derive(Debug, clap::Args)]
pub struct KeyArguments {
    /// Concurrency key.
    pub key: ConcurrencyKey,
}

/// Which key, and its limit.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth concurrency set exports 3\n  berth concurrency set exports 0      # no task of the key starts"
)]
pub struct ConcurrencySetArguments {
    /// Concurrency key.
    pub key: ConcurrencyKey,
    /// Tasks that may run at once; 0: none.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub running: u32,
}

const COLUMNS: [&str; 3] = ["KEY", "RUNNING AT ONCE", "CHANGED"];

/// Shows the limits that are stored.
pub async fn list(
    connection: &Connection,
    arguments: &ConcurrencyListArguments,
) -> Result<(), Failure> {
    let ask = async |page: &PageRequest| connection.client.concurrency_limits(page).await;
    let row = |limit: &ConcurrencyLimit| row(limit, clock::wall());
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

/// Shows a key's limit and what is used of it.
pub async fn show(connection: &Connection, arguments: &KeyArguments) -> Result<(), Failure> {
    let used = connection.client.concurrency_limit(arguments.key.as_str()).await;
    let used = used.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(used.json()),
        Format::Table => output::text(&details(&used.limit, Some(used.held))),
    }
}

/// Changes a key's limit.
pub async fn set(
    connection: &Connection,
    arguments: &ConcurrencySetArguments,
) -> Result<(), Failure> {
    let (key, running) = (arguments.key.as_str(), arguments.running);
    tell(connection, connection.client.set_concurrency_limit(key, running).await)
}

/// Forgets a key's limit.
pub async fn delete(connection: &Connection, arguments: &KeyArguments) -> Result<(), Failure> {
    tell(connection, connection.client.delete_concurrency_limit(arguments.key.as_str()).await)
}

fn tell(
    connection: &Connection,
    answer: Result<ApiResponse<ConcurrencyLimit>, ClientError>,
) -> Result<(), Failure> {
    let limit = answer.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(limit.json()),
        Format::Table => output::text(&details(&limit, None)),
    }
}

fn details(limit: &ConcurrencyLimit, held: Option<u64>) -> String {
    let mut details = Details::default();
    details.row("key", &limit.key);
    let usual = if limit.stored { "" } else { " (default)" };
    details.row("running at once", format!("{}{usual}", limit.running));
    details.some("running now", held);
    details.to_string()
}

fn row(limit: &ConcurrencyLimit, now: Timestamp) -> [String; 3] {
    let changed = limit.updated_at.map(|at| age::ago(at, now)).unwrap_or_default();
    [limit.key.clone(), limit.running.to_string(), changed]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_set_and_what_is_used_show() {
        let limit = |stored| ConcurrencyLimit {
            key: "exports".to_owned(),
            running: 1,
            stored,
            updated_at: None,
        };
        assert_eq!(
            details(&limit(false), Some(0)),
            "key              exports\nrunning at once  1 (default)\nrunning now      0\n"
        );
        assert_eq!(details(&limit(true), None), "key              exports\nrunning at once  1\n");
    }
}
