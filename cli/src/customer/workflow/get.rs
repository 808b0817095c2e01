//! `berth workflow get`: a workflow and its nodes.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::schedule::exact;
use super::name::name;
use super::ordered::Ordered;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table, age, cell};
use client::Workflow;
use domain::time::Timestamp;
use runtime::clock;

/// Which workflow.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow get load\n  berth workflow get load --definition > load.json"
)]
pub struct GetArguments {
    /// Name.
    #[arg(value_parser = name)]
    pub name: String,
    /// Print only the definition, as JSON that `berth workflow put` takes.
    #[arg(long)]
    pub definition: bool,
}

const COLUMNS: [&str; 3] = ["NODE", "AFTER", "RUNS"];

/// Shows a workflow.
pub async fn run(connection: &Connection, arguments: &GetArguments) -> Result<(), Failure> {
    let workflow = connection.client.workflow(&arguments.name).await;
    let workflow = workflow.map_err(|error| failure(&error))?;
    let definition = || {
        serde_json::from_str::<Ordered>(workflow.definition.as_str())
            .map_err(|error| Failure::failed(format!("cannot read the server's answer: {error}")))
    };
    match (connection.format, arguments.definition) {
        (Format::Json, true) => output::document(workflow.definition.as_str().as_bytes()),
        (Format::Json, false) => output::document(workflow.json()),
        (Format::Table, true) => {
            let text = serde_json::to_string_pretty(&definition()?);
            output::line(&text.map_err(|error| Failure::failed(error.to_string()))?)
        }
        (Format::Table, false) => {
            let shown = details(&workflow, clock::wall());
            output::text(&format!("{shown}\n{}", nodes(&definition()?)))
        }
    }
}

/// A workflow without its nodes.
pub(super) fn details(workflow: &Workflow, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", exact(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("name", &workflow.name);
    details.row("version", workflow.version);
    details.row("nodes", workflow.nodes);
    details.row("created", at(workflow.created_at));
    details.row("changed", format!("{} by {}", at(workflow.updated_at), workflow.updated_by));
    details.to_string()
}

/// The nodes of a definition, in its order.
fn nodes(definition: &Ordered) -> String {
    let mut table = Table::new(COLUMNS);
    for (name, node) in definition.get("nodes").map(Ordered::fields).unwrap_or_default() {
        table.row([name.clone(), after(node), runs(node)]);
    }
    table.take()
}

fn after(node: &Ordered) -> String {
    let parents = node.get("after").map(Ordered::items).unwrap_or_default();
    let parents = parents.iter().map(|parent| match (parent.get("node"), parent.get("on")) {
        (Some(node), Some(on)) => format!("{}={}", node.plain(), on.plain()),
        (Some(node), None) => node.plain(),
        (None, _) => parent.plain(),
    });
    let parents = parents.collect::<Vec<_>>().join(", ");
    match node.get("join").map(Ordered::plain) {
        Some(join) if join != "all" => format!("{join} of {parents}"),
        _ => parents,
    }
}

/// What a node runs or waits for, in a few words.
fn runs(node: &Ordered) -> String {
    if let Some((kind, of)) = node.get("wait").and_then(|wait| wait.fields().first()) {
        return match kind.as_str() {
            "approval" => "(waits for approval)".to_owned(),
            "delay" => format!("(waits {})", of.plain()),
            kind => format!("(waits for {kind} {})", of.plain()),
        };
    }
    let task = node.get("task").and_then(|task| task.get("run"));
    let shown = match task.and_then(|run| run.fields().first()) {
        Some((kind, run)) if kind == "command" => {
            let argv = run.get("argv").map(Ordered::items).unwrap_or_default();
            argv.iter().map(|word| cell::word(&word.plain())).collect::<Vec<_>>().join(" ")
        }
        Some((kind, run)) if kind == "http" => {
            let method = run.get("method").map_or_else(|| "GET".to_owned(), Ordered::plain);
            format!("{method} {}", run.get("url").map(Ordered::plain).unwrap_or_default())
        }
        Some((kind, _)) => kind.clone(),
        None => String::new(),
    };
    if node.get("for_each").is_some() { format!("(for each) {shown}") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_shown_in_the_order_of_the_definition() {
        let definition = r#"{"nodes":{
            "z":{"task":{"run":{"command":{"argv":["echo","a b",{"$input":"/x"}]}}}},
            "a":{"after":["z",{"node":"y","on":"failed"}],"join":"any","task":{"run":{"http":{"url":"http://a/"}}},"for_each":[1]},
            "c":{"wait":{"approval":true}},"d":{"wait":{"signal":"k"}},"e":{"wait":{"delay":"5m"}}}}"#;
        assert_eq!(
            nodes(&serde_json::from_str(definition).unwrap()),
            "NODE  AFTER               RUNS\n\
             z                         echo 'a b' '{\"$input\":\"/x\"}'\n\
             a     any of z, y=failed  (for each) GET http://a/\n\
             c                         (waits for approval)\n\
             d                         (waits for signal k)\n\
             e                         (waits 5m)\n"
        );
    }
}
