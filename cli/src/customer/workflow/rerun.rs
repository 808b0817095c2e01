//! `berth workflow rerun`: runs nodes of a run again, as a new run.

use super::super::connection::Connection;
use super::super::submit::not_stored;
use super::run::begun;
use super::watch::WatchArguments;
use crate::failure::Failure;
use client::IdempotencyKey;
use client::request::WorkflowRerun;
use domain::id::WorkflowRunId;

/// Which run, and which of its nodes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow rerun run_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --watch\n  \
                  berth workflow rerun run_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --node transform --below\n\n\
                  Without --node, each node that did not succeed is run again, and everything below it. The results of the other nodes\n\
                  are taken over. The first run must have ended and does not change; `rerun_of` of the new one refers to it."
)]
pub struct RerunArguments {
    /// Id of the run.
    #[arg(value_name = "RUN")]
    pub run: WorkflowRunId,
    /// Node to run again; repeatable.
    #[arg(long = "node", value_name = "NAME")]
    pub nodes: Vec<String>,
    /// Also everything below these nodes.
    #[arg(long, requires = "nodes")]
    pub below: bool,
    /// Idempotency key: repeating the command with the same key starts the run only once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Whether to watch it.
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// Starts the new run and prints its id.
pub async fn run(connection: &Connection, arguments: &RerunArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    let nodes = (!arguments.nodes.is_empty()).then(|| arguments.nodes.clone());
    let rerun = WorkflowRerun { nodes, below: arguments.below.then_some(true) };
    let started = connection.client.rerun_workflow_run(arguments.run, &rerun, key.clone()).await;
    let started = started.map_err(|error| not_stored("The run", &error, &key))?;
    begun(connection, &started, &arguments.watch).await
}
