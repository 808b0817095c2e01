//! The page of a type in terraform/docs.

use super::{Attribute, Given, Kind};
use crate::value::{Value, to_json};
use std::fmt::Write;

/// What a page is about.
#[derive(Debug)]
pub struct Page<'a> {
    /// `Resource`, `Data source`, `Ephemeral resource` or `Provider`.
    pub sort: &'a str,
    /// Its name in configurations.
    pub name: &'a str,
    /// What it is.
    pub text: &'a str,
    /// Its attributes.
    pub attributes: &'a [Attribute],
    /// A configuration.
    pub example: Option<String>,
    /// How it is imported, if it is.
    pub import: Option<&'a str>,
}

/// The page as Markdown.
#[must_use]
pub fn page(page: &Page<'_>) -> String {
    let Page { sort, name, text, attributes, example, import } = page;
    let mut out = format!(
        "<!-- Written by `make terraform-docs` from the schema. -->\n\n# {sort} {name}\n\n"
    );
    wrapped(&mut out, text, "", "");
    if let Some(example) = example {
        let _ = write!(out, "\n```hcl\n{}\n```\n", example.trim_end());
    }
    let (settings, results): (Vec<_>, Vec<_>) = attributes
        .iter()
        .partition(|attribute| !matches!(attribute.given, Given::Fixed | Given::Server));
    section(&mut out, "Arguments", &settings);
    section(&mut out, "Attributes", &results);
    if let Some(import) = import {
        let _ =
            write!(out, "\n## Import\n\n```sh\nterraform import {name}.example {import}\n```\n");
    }
    out
}

fn section(out: &mut String, title: &str, attributes: &[&Attribute]) {
    if attributes.is_empty() {
        return;
    }
    let _ = write!(out, "\n## {title}\n\n");
    attributes.iter().for_each(|attribute| entry(out, attribute, ""));
}

fn entry(out: &mut String, attribute: &Attribute, indent: &str) {
    let mut notes = vec![kind(&attribute.kind).to_owned()];
    match &attribute.given {
        Given::Required => notes.push("required".to_owned()),
        Given::Default(Value::Map(_)) => {}
        Given::Default(value) => notes.push(format!("default `{}`", to_json(value))),

        Given::OrServer => notes.push("default: the server's".to_owned()),
        Given::Optional | Given::Fixed | Given::Server => {}
    }
    if attribute.replaces {
        notes.push("another value replaces the object".to_owned());
    }
    if attribute.sensitive {
        notes.push("sensitive".to_owned());
    }
    let text = format!("`{}` ({}): {}", attribute.name, notes.join(", "), attribute.text);
    wrapped(out, &text, &format!("{indent}- "), &format!("{indent}  "));
    if let Kind::Object(inner) | Kind::Objects(inner) | Kind::ObjectMap(inner) = &attribute.kind {
        let indent = format!("{indent}  ");
        inner.iter().for_each(|attribute| entry(out, attribute, &indent));
    }
}

const fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Number => "number",
        Kind::Text => "string",
        Kind::Texts => "list of strings",
        Kind::TextSet => "set of strings",
        Kind::TextMap => "map of strings",
        Kind::Numbers => "list of numbers",
        Kind::Object(_) => "object",
        Kind::Objects(_) => "list of objects",
        Kind::ObjectMap(_) => "map of objects",
    }
}

/// Lines of at most 120 characters.
fn wrapped(out: &mut String, text: &str, first: &str, next: &str) {
    const WIDTH: usize = 120;
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            next.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    let _ = writeln!(out, "{line}");
}
