//! `berth workflow versions`.

use super::super::connection::Connection;
use super::super::pages::PageArguments;
use super::name::name;
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{PageRequest, WorkflowVersion};
use domain::time::Timestamp;
use runtime::clock;

/// Versions of which workflow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow versions load")]
pub struct VersionsArguments {
    /// Name of the workflow.
    #[arg(value_parser = name)]
    pub name: String,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 4] = ["VERSION", "NODES", "STORED", "BY"];

/// Shows versions, newest first.
pub async fn run(connection: &Connection, arguments: &VersionsArguments) -> Result<(), Failure> {
    let (client, name) = (&connection.client, &arguments.name);
    let ask = async |page: &PageRequest| client.workflow_versions(name, page).await;
    let row = |version: &WorkflowVersion| row(version, clock::wall());
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

fn row(version: &WorkflowVersion, now: Timestamp) -> [String; 4] {
    [
        version.version.to_string(),
        version.nodes.to_string(),
        age::ago(version.stored_at, now),
        version.stored_by.to_string(),
    ]
}
