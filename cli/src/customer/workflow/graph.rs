//! `berth workflow graph`: the nodes of a run.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::draw::draw;
use super::watch::{WatchArguments, watch};
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::WorkflowRunId;
use runtime::clock;

/// Which run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow graph run_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth workflow graph run_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --watch   # the exit code is the run's result\n\n\
                  One line per node, by layer: the nodes of a layer wait only for nodes of earlier ones. A run of more than 500 nodes\n\
                  is shown as one line per layer; `--output json` has each node."
)]
pub struct GraphArguments {
    /// Id of the run.
    #[arg(value_name = "RUN")]
    pub run: WorkflowRunId,
    /// Whether to watch it.
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// Shows the nodes of a run.
pub async fn run(connection: &Connection, arguments: &GraphArguments) -> Result<(), Failure> {
    if arguments.watch.watch {
        return watch(connection, arguments.run, &arguments.watch).await;
    }
    let graph = connection.client.workflow_graph(arguments.run).await;
    let graph = graph.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(graph.json()),
        Format::Table => output::text(&draw(&graph, clock::wall())),
    }
}
