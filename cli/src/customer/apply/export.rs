//! `berth export`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::workflow::Ordered;
use super::kind::Kind;
use super::stored::{self, Stored};
use super::yaml;
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::WorkflowRunId;

/// Which objects.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth export > all.yaml\n  berth export --kind schedule --kind workflow > berth/all.yaml\n  \
                  berth export | berth apply --dry-run -f -\n\n\
                  Writes YAML, or with --output json one JSON list. It has the environment, input and headers of tasks, which may be\n\
                  secret. API keys are not exported. Users are left out where the key may not read them."
)]
pub struct ExportArguments {
    /// Only this kind: concurrency_limit, workflow, schedule or user. Can be given more than once.
    #[arg(long = "kind", value_name = "KIND", value_parser = kind)]
    pub kinds: Vec<Kind>,
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::of(text).ok_or_else(|| format!("expected one of {}", Kind::names()))
}

/// Writes what exists.
pub async fn run(connection: &Connection, arguments: &ExportArguments) -> Result<(), Failure> {
    let mut documents = Vec::new();
    for kind in Kind::ALL {
        let is_named = arguments.kinds.contains(&kind);
        if !arguments.kinds.is_empty() && !is_named {
            continue;
        }
        match stored::all(connection, kind).await {
            Ok(all) => {
                for one in all.iter().filter(|one| !is_of_a_run(one)) {
                    documents.push(document(one)?);
                }
            }
            Err(error)
                if kind == Kind::User
                    && !is_named
                    && error.api().is_some_and(|problem| problem.status == 403) =>
            {
                output::remark("berth: users are left out: the key may not read them");
            }
            Err(error) => return Err(failure(&error)),
        }
    }
    match connection.format {
        Format::Json => {
            let all = serde_json::to_string(&documents);
            output::line(&all.map_err(|error| Failure::failed(error.to_string()))?)
        }
        Format::Table => {
            let text: Vec<String> = documents.iter().map(yaml::document).collect();
            output::text(&text.join("---\n"))
        }
    }
}

/// The limit of a workflow run, which comes and goes with it.
fn is_of_a_run(stored: &Stored) -> bool {
    stored.kind == Kind::ConcurrencyLimit && stored.name.parse::<WorkflowRunId>().is_ok()
}

/// An object as a document of a file.
fn document(stored: &Stored) -> Result<Ordered, Failure> {
    let body = serde_json::from_str::<Ordered>(&stored.text)
        .map_err(|error| Failure::failed(format!("cannot read the server's answer: {error}")))?;
    let text = |text: &str| Ordered::Text(text.to_owned());
    let mut fields = vec![
        ("kind".to_owned(), text(stored.kind.as_str())),
        ("name".to_owned(), text(&stored.name)),
    ];
    fields.extend_from_slice(body.fields());
    Ok(Ordered::Map(fields))
}
