//! `berth workflow list`.

use super::super::connection::Connection;
use super::super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::{Table, age};
use client::{PageRequest, Workflow};
use domain::time::Timestamp;
use runtime::clock;

/// Which workflows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow list --all")]
pub struct ListArguments {
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

const COLUMNS: [&str; 4] = ["NAME", "VERSION", "NODES", "CHANGED"];

/// Shows workflows, by name.
pub async fn run(connection: &Connection, arguments: &ListArguments) -> Result<(), Failure> {
    let ask = async |page: &PageRequest| connection.client.workflows(page).await;
    let row = |workflow: &Workflow| row(workflow, clock::wall());
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

fn row(workflow: &Workflow, now: Timestamp) -> [String; 4] {
    [
        workflow.name.clone(),
        workflow.version.to_string(),
        workflow.nodes.to_string(),
        age::ago(workflow.updated_at, now),
    ]
}
