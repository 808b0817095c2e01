//! `berth quote workflow`.

use super::ask::{ask, raw};
use crate::customer::connection::Connection;
use crate::customer::workflow::new_run;
use crate::failure::Failure;
use client::request::QuoteAsk;
use serde_json::Value;

/// What to price.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth quote workflow load --input '{\"day\": \"2030-01-31\"}'\n  \
                  berth quote workflow load.yaml          # a definition that is not stored\n\n\
                  Each node counts once, and a `for_each` with as many items as its run may have where another node returns them."
)]
pub struct QuoteWorkflowArguments {
    /// Name of a stored workflow; or a JSON or YAML file with a definition, `-`: standard input.
    #[arg(value_name = "NAME_OR_FILE")]
    pub what: String,
    /// Input as JSON, which `{"$input": …}` reads.
    #[arg(long, value_name = "JSON", value_parser = crate::customer::submit::parsed_json, conflicts_with = "input_file")]
    pub input: Option<Value>,
    /// JSON or YAML file with the input; `-`: standard input.
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<String>,
}

/// Prices a run.
pub async fn run(
    connection: &Connection,
    arguments: &QuoteWorkflowArguments,
) -> Result<(), Failure> {
    let QuoteWorkflowArguments { what, input, input_file } = arguments;
    let run = new_run(what, input.as_ref(), input_file.as_deref())?;
    ask(connection, QuoteAsk { workflow: Some(raw(&run)?), ..QuoteAsk::default() }).await
}
