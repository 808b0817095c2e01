//! `berth workflow run`.
//!
//! Prints the id of the run and nothing else, as `berth submit` does. With `--watch` standard output is the graph, and the id goes to
//! standard error.

use super::super::connection::Connection;
use super::super::submit::{not_stored, parsed_json};
use super::file;
use super::name::name;
use super::watch::{WatchArguments, watch};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::request::NewWorkflowRun;
use client::{ApiResponse, IdempotencyKey, RawJson, WorkflowRun};
use serde_json::Value;

/// What to run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow run load --input '{\"day\": \"2030-01-31\"}'\n  \
                  berth workflow run load.yaml --watch          # a definition that is not stored\n  \
                  berth workflow run load --input-file day.yaml --watch --output json"
)]
pub struct RunArguments {
    /// Name of a stored workflow; or a JSON or YAML file with a definition, `-`: standard input.
    #[arg(value_name = "NAME_OR_FILE")]
    pub what: String,
    /// Input as JSON, which `{"$input": …}` reads.
    #[arg(long, value_name = "JSON", value_parser = parsed_json, conflicts_with = "input_file")]
    pub input: Option<Value>,
    /// JSON or YAML file with the input; `-`: standard input.
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<String>,
    /// Idempotency key: repeating the command with the same key starts the run only once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Whether to watch it.
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// Starts a run and prints its id. All of its tasks are stored durably then.
pub async fn run(connection: &Connection, arguments: &RunArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    let RunArguments { what, input, input_file, .. } = arguments;
    let run = new_run(what, input.as_ref(), input_file.as_deref())?;
    let started = connection.client.start_workflow_run(&run, key.clone()).await;
    let started = started.map_err(|error| not_stored("The run", &error, &key))?;
    begun(connection, &started, &arguments.watch).await
}

/// A run of what a command line says.
pub(in crate::customer) fn new_run(
    what: &str,
    input: Option<&Value>,
    input_file: Option<&str>,
) -> Result<NewWorkflowRun<RawJson>, Failure> {
    if what == "-" && input_file == Some("-") {
        return Err(Failure::usage("standard input is either the definition or the input"));
    }
    let (workflow, definition) = if file::is_file(what) {
        (None, Some(file::json(what)?))
    } else {
        let no_name =
            |error| Failure::usage(format!("there is no file {what}; as a name: {error}"));
        (Some(name(what).map_err(no_name)?), None)
    };
    let input = match input_file {
        Some(file) => serde_json::to_value(file::value(file)?).ok(),
        None => input.cloned(),
    };
    Ok(NewWorkflowRun { workflow, definition, input })
}

/// Shows a run that was started, or watches it.
pub(super) async fn begun(
    connection: &Connection,
    started: &ApiResponse<WorkflowRun>,
    how: &WatchArguments,
) -> Result<(), Failure> {
    if how.watch {
        output::remark(&format!("berth: {} is started", started.id));
        return watch(connection, started.id, how).await;
    }
    match connection.format {
        Format::Json => output::document(started.json()),
        Format::Table => {
            if started.is_replayed() {
                output::remark("The run was already started with this idempotency key.");
            }
            output::line(&started.id.to_string())
        }
    }
}
