//! `berth workflow diff`: what differs between two versions of a workflow.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::name::name;
use super::ordered::Ordered;
use crate::failure::Failure;
use crate::output;
use similar::TextDiff;

/// Versions of which workflow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow diff load 3 4")]
pub struct DiffArguments {
    /// Name of the workflow.
    #[arg(value_parser = name)]
    pub name: String,
    /// The older version.
    pub from: i64,
    /// The newer version.
    pub to: i64,
}

/// Prints a unified diff; nothing where the texts are equal.
pub async fn run(connection: &Connection, arguments: &DiffArguments) -> Result<(), Failure> {
    let DiffArguments { name, from, to } = arguments;
    let (old, new) = (text(connection, name, *from).await?, text(connection, name, *to).await?);
    let title = |version: &i64| format!("{name}, version {version}");
    output::text(&unified(&old, &new, (&title(from), &title(to))))
}

fn unified(old: &str, new: &str, (from, to): (&str, &str)) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(from, to).to_string()
}

/// The definition of a version with a line for each value, its nodes in their order.
async fn text(connection: &Connection, name: &str, version: i64) -> Result<String, Failure> {
    let found = connection.client.workflow_version(name, version).await;
    let found = found.map_err(|error| failure(&error))?;
    let definition = found.definition.as_ref().map_or("{}", |definition| definition.as_str());
    let read = |error| Failure::failed(format!("cannot read the server's answer: {error}"));
    let ordered: Ordered = serde_json::from_str(definition).map_err(read)?;
    Ok(serde_json::to_string_pretty(&ordered).map_err(read)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_marked_under_the_names_of_both_versions() {
        let diff = unified("a\nb\n", "a\nc\n", ("load, version 1", "load, version 2"));
        assert_eq!(diff, "--- load, version 1\n+++ load, version 2\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified("a\n", "a\n", ("x", "y")), "");
    }
}
