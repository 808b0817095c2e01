//! `berth workflow check`: a definition without a server.
//!
//! The code that checks is that of the API. The limits are those of an installation without settings of its own, and each pool that the
//! definition names is assumed to exist.

use super::file;
use crate::failure::Failure;
use crate::output::{self, Format, cell};
use api::problem::{FieldError, Problem};
use api::task::OfflineRules;
use api::workflow::{Checked, check_offline};
use domain::plan::PlanLimits;
use runtime::clock;
use serde_json::json;

/// Which definition.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow check load.yaml\n  generate | berth workflow check -\n\n\
                  Needs no server and no key. Each mistake is a line `pointer: detail`; the exit code is 2 then. A server may have\n\
                  other limits."
)]
pub struct CheckArguments {
    /// JSON or YAML file with the definition; `-`: standard input.
    pub file: String,
}

/// Checks a definition, and says what is wrong with it.
pub fn run(arguments: &CheckArguments, format: Format) -> Result<(), Failure> {
    let definition = file::json(&arguments.file)?;
    let settings = runtime::config::load_from(None, [])?;
    let (limits, plan) = (&settings.limits, &PlanLimits::default());
    let rules = OfflineRules { limits, plan, now: clock::wall() };
    match check_offline(definition.as_str().as_bytes(), &rules, settings.api.max_task_bytes) {
        // Warnings are of executors, which there are none of here.
        Ok(Checked { plan, .. }) => {
            let number = plan.nodes.len();
            match format {
                Format::Json => output::line(&json!({"nodes": number, "errors": []}).to_string()),
                Format::Table => output::line(&format!("ok, {}", nodes(number))),
            }
        }
        Err(problem) => refused(&arguments.file, &problem, format),
    }
}

fn nodes(number: usize) -> String {
    if number == 1 { "1 node".to_owned() } else { format!("{number} nodes") }
}

fn refused(file: &str, problem: &Problem, format: Format) -> Result<(), Failure> {
    let whole = [FieldError { pointer: String::new(), detail: problem.detail().to_owned() }];
    let errors = if problem.errors().is_empty() { &whole } else { problem.errors() };
    match format {
        Format::Json => output::line(&json!({"errors": errors}).to_string())?,
        Format::Table => {
            for FieldError { pointer, detail } in errors {
                let place = if pointer.is_empty() { "/" } else { pointer };
                let line = format!("{}: {}", cell::plain(place), cell::plain(detail));
                output::line(&line)?;
            }
        }
    }
    let number = match errors.len() {
        1 => "1 mistake".to_owned(),
        number => format!("{number} mistakes"),
    };
    let file = if file == "-" { "standard input" } else { file };
    Err(Failure::usage(format!("{number} in {file}")))
}
