//! The imports between the crates of the workspace, as docs/architecture.md shows them: a drawing and a table.
//!
//! Used by `walls.rs`. Both are written from what cargo says (normal dependencies), so that the page cannot differ from the
//! manifests. The drawing leaves out what an arrow and those after it already imply; the table is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Writes the section again.
const COMMAND: &str =
    "cargo nextest run --workspace --run-ignored only -E 'test(=imports::write_the_section)'";
const BEGIN: &str = "<!-- imports: begin, written by testkit/tests/imports/mod.rs -->\n";
const END: &str = "<!-- imports: end -->\n";

type Imports = BTreeMap<String, BTreeSet<String>>;

/// The crates of the workspace, and which of them each imports.
fn imports() -> Imports {
    let mut imports = super::dependencies(|kind| kind.is_none());
    let ours: BTreeSet<String> = imports.keys().cloned().collect();
    for named in imports.values_mut() {
        named.retain(|name| ours.contains(name));
    }
    imports
}

/// Whether `from` reaches `to` over one arrow or more.
fn reaches(imports: &Imports, from: &str, to: &str) -> bool {
    imports[from].iter().any(|next| next == to || reaches(imports, next, to))
}

/// The drawing and the table.
fn section(imports: &Imports) -> String {
    let mut drawing = String::from("```mermaid\nflowchart TD\n");
    let mut table = String::from("| crate | imports |\n|---|---|\n");
    for (from, named) in imports {
        let is_implied = |to: &str| named.iter().any(|other| reaches(imports, other, to));
        let drawn: Vec<&str> =
            named.iter().map(String::as_str).filter(|to| !is_implied(to)).collect();
        if !drawn.is_empty() {
            drawing.push_str(&format!("    {from} --> {}\n", drawn.join(" & ")));
        }
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        table.push_str(&format!("| {from} | {named} |\n"));
    }
    format!("{drawing}```\n\n{table}")
}

fn page() -> PathBuf {
    testkit::settings::workspace().join("docs/architecture.md")
}

/// The page: before the section, the section, and after it.
fn parts(text: &str) -> [&str; 3] {
    let (before, rest) = text.split_once(BEGIN).expect("a begin of the section");
    let (section, after) = rest.split_once(END).expect("an end of the section");
    [before, section, after]
}

#[test]
fn the_page_shows_the_imports_that_cargo_knows() {
    let text = std::fs::read_to_string(page()).expect("the page");
    let [_, shown, _] = parts(&text);
    assert!(
        shown == section(&imports()),
        "docs/architecture.md does not show the imports of the manifests; run\n  {COMMAND}\nand commit it"
    );
}

/// Not a test: writes the section.
#[test]
#[ignore = "writes docs/architecture.md"]
fn write_the_section() {
    let text = std::fs::read_to_string(page()).expect("the page");
    let [before, _, after] = parts(&text);
    let text = format!("{before}{BEGIN}{}{END}{after}", section(&imports()));
    std::fs::write(page(), text).expect("the page is written");
}

#[test]
fn an_arrow_that_others_imply_is_in_the_table_only() {
    let imports: Imports = [("a", vec!["b", "c"]), ("b", vec!["c"]), ("c", vec![])]
        .map(|(from, to)| (from.to_owned(), to.into_iter().map(str::to_owned).collect()))
        .into();
    let section = section(&imports);
    assert!(section.contains("    a --> b\n") && section.contains("    b --> c\n"), "{section}");
    assert!(section.contains("| a | b, c |\n"), "{section}");
    assert!(section.contains("| c | none |\n"), "{section}");
}
