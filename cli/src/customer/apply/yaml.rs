//! Writes values as YAML that people can read and change.
//!
//! What is written is read again before it is given out; what would not be the same is written as JSON, which is YAML too.

use super::super::workflow::{Ordered, documents};
use serde::Serialize;

/// A document, which ends with a line end.
pub(super) fn document(value: &Ordered) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    let read = documents("-", &text).ok();
    if matches!(read.as_deref(), Some([only]) if only.value() == *value) {
        return text;
    }
    format!("{}\n", json(value))
}

/// JSON of which YAML reads the same: characters that it takes for line ends, or refuses, are written by their numbers.
fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let is_special = |c| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if is_special(c) {
            written.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            written.push(c);
        }
    }
    written
}

/// A value on lines of its own.
fn block(value: &Ordered, indent: usize, text: &mut String) {
    let start = " ".repeat(indent);
    match value {
        Ordered::Map(fields) => {
            for (name, value) in fields {
                text.push_str(&format!("{start}{}:", scalar(name)));
                after(value, indent, text);
            }
        }
        Ordered::List(items) => {
            for item in items {
                let mut inner = String::new();
                match item {
                    // Its first field is behind the dash.
                    Ordered::Map(fields) if !fields.is_empty() => {
                        block(item, indent + 2, &mut inner);
                        text.push_str(&format!("{start}- {}", inner.trim_start()));
                    }
                    item => {
                        text.push_str(&format!("{start}-"));
                        after(item, indent, text);
                    }
                }
            }
        }
        plain => text.push_str(&format!("{start}{}\n", inline(plain))),
    }
}

/// A value behind `name:` or `-`.
fn after(value: &Ordered, indent: usize, text: &mut String) {
    match value {
        Ordered::Map(fields) if !fields.is_empty() => {
            text.push('\n');
            block(value, indent + 2, text);
        }
        Ordered::List(items) if items.iter().any(|item| !is_short(item)) => {
            text.push('\n');
            block(value, indent + 2, text);
        }
        Ordered::Text(long) if is_literal(long) => {
            text.push_str(if long.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in long.trim_end_matches('\n').split('\n') {
                let start = if line.is_empty() { String::new() } else { " ".repeat(indent + 2) };
                text.push_str(&format!("{start}{line}\n"));
            }
        }
        plain => text.push_str(&format!(" {}\n", inline(plain))),
    }
}

/// Whether a value fits into a list on one line.
fn is_short(value: &Ordered) -> bool {
    match value {
        Ordered::Map(_) | Ordered::List(_) => false,
        Ordered::Text(text) => text.len() <= 60 && !text.contains('\n'),
        Ordered::Null | Ordered::Bool(_) | Ordered::Number(_) => true,
    }
}

/// Whether a text is written line by line, as a script is.
fn is_literal(text: &str) -> bool {
    let inner = text.strip_suffix('\n').unwrap_or(text);
    inner.contains('\n')
        && !inner.ends_with('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(|c| {
            c == '\n'
                || !(c.is_control()
                    || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
        })
}

fn inline(value: &Ordered) -> String {
    match value {
        Ordered::Text(text) => scalar(text),
        Ordered::List(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => json(other),
    }
}

/// A text, in quotes unless it can be nothing but that text.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-@".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(plain)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if bare { text.to_owned() } else { json(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str) -> String {
        document(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_document_is_one_that_people_would_write() {
        let json = r#"{"kind":"schedule","name":"nightly","timing":{"specs":[{"cron":"@daily"}],"zone":"Europe/Berlin"},
            "task":{"run":{"command":{"argv":["bash","-c","echo hi"],"env":{},"stdin":"one\n  two\n"}},"flexible":false,"priority":-1,"tags":["yes","007",null]}}"#;
        assert_eq!(
            written(json),
            "kind: schedule\n\
             name: nightly\n\
             timing:\n  specs:\n    - cron: \"@daily\"\n  zone: Europe/Berlin\n\
             task:\n  run:\n    command:\n      argv: [bash, \"-c\", \"echo hi\"]\n      env: {}\n      stdin: |\n        one\n          two\n\
             \x20 flexible: false\n  priority: -1\n  tags: [\"yes\", \"007\", null]\n"
        );
    }

    #[test]
    fn whatever_is_written_is_read_as_the_same() {
        for text in [
            "",
            " ",
            "a: b",
            "- a",
            "# no",
            "a #b",
            "\t",
            "\u{7}",
            "é…",
            "\u{85}",
            "\u{2028}",
            "'",
            "\"",
            "\\",
            "|",
            "~",
            "null",
            "1e3",
            "0x10",
            "007",
            "1_000",
            ".inf",
            "2030-01-31",
            "a\nb",
            "a\nb\n",
            "a\n\nb\n\n",
            "\na",
            " a\nb",
            "a\r\nb",
            "---\na",
            "...",
            "%a",
            "@a",
            "`a",
            "*a",
            "&a",
            "!a",
            "=",
            "🦀",
            "a\u{feff}b",
            "a\n---\nb",
        ] {
            let value = Ordered::Map(vec![
                (text.to_owned(), Ordered::Text(text.to_owned())),
                (
                    "list".to_owned(),
                    Ordered::List(vec![Ordered::Text(text.to_owned()), Ordered::Map(Vec::new())]),
                ),
            ]);
            let written = document(&value);
            let read = documents("-", &written).unwrap();
            assert_eq!(read.len(), 1, "{text:?}: {written}");
            assert_eq!(read[0].value(), value, "{text:?}: {written}");
        }
    }

    #[test]
    fn numbers_and_empty_things_stay_what_they_are() {
        let json = r#"{"a":1.5,"b":-0.0,"c":18446744073709551615,"d":1e300,"e":[],"f":{},"g":[[1,[2]],{}],"h":null}"#;
        let value: Ordered = serde_json::from_str(json).unwrap();
        let read = documents("-", &document(&value)).unwrap();
        assert_eq!(read[0].value(), value);
    }
}
