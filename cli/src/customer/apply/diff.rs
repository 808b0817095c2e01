//! What differs between two forms of an object, field by field.
//!
//! The rule: values that may be secret (a command's environment and input, a call's headers and body, the input of runs) are said to have
//! changed and never shown.

use crate::output::cell;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longest value that is shown.
const MOST: usize = 200;
/// Fields of which no value is shown, wherever they are: what holds them, and their names.
const SECRET: [(&str, &[&str]); 3] = [
    ("command", &["env", "stdin"]),
    ("http", &["headers", "body", "body_base64"]),
    ("workflow", &["input"]),
];

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FieldChange {
    /// JSON pointer.
    pub field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl FieldChange {
    /// `- field: before` and `+ field: after`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let line = |sign: char, value: Option<&Value>| {
            let value = value?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (field, text) = (cell::plain(&self.field), cell::fitted(&text, MOST));
            Some(format!("    {sign} {field}: {text}"))
        };
        [line('-', self.before.as_ref()), line('+', self.after.as_ref())].into_iter().flatten()
    }
}

/// What differs. A change of order alone, as of a workflow's nodes, is none here.
pub(super) fn diff(before: &Value, after: &Value) -> Vec<FieldChange> {
    let (before, after) = (leaves(before), leaves(after));
    let fields: BTreeSet<&Vec<String>> = before.keys().chain(after.keys()).collect();
    let mut changes = Vec::new();
    for path in fields {
        let (was, is) = (before.get(path), after.get(path));
        if was != is {
            let shown = |value: &&Value| {
                if is_secret(path) { json!("(not shown)") } else { (*value).clone() }
            };
            let escaped = path.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
            let field: String = escaped.map(|part| format!("/{part}")).collect();
            let (before, after) = (was.map(shown), is.map(shown));
            changes.push(FieldChange { field, before, after });
        }
    }
    changes
}

fn is_secret(path: &[String]) -> bool {
    path.array_windows().any(|[holder, field]| {
        SECRET.iter().any(|(of, fields)| of == holder && fields.contains(&field.as_str()))
    })
}

/// Every field by its path: objects are taken apart, lists are values.
fn leaves(value: &Value) -> BTreeMap<Vec<String>, &Value> {
    fn collect<'a>(
        path: &mut Vec<String>,
        value: &'a Value,
        leaves: &mut BTreeMap<Vec<String>, &'a Value>,
    ) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    path.push(name.clone());
                    collect(path, value, leaves);
                    path.pop();
                }
            }
            value => _ = leaves.insert(path.clone(), value),
        }
    }
    let mut leaves = BTreeMap::new();
    collect(&mut Vec::new(), value, &mut leaves);
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_field_by_field_and_secrets_are_not() {
        let before = json!({"nodes": {"a/b": {"task": {"run": {"command": {"argv": ["x"], "env": {"TOKEN": "hunter2"}}}, "labels": {"team": "x"}}}}});
        let after = json!({"nodes": {"a/b": {"task": {"run": {"command": {"argv": ["x", "y"], "env": {"TOKEN": "hunter3"}}}}}}, "max_parallel": 2});
        let lines: Vec<String> =
            diff(&before, &after).iter().flat_map(FieldChange::lines).collect();
        assert_eq!(
            lines,
            [
                "    + /max_parallel: 2",
                "    - /nodes/a~1b/task/labels/team: x",
                "    - /nodes/a~1b/task/run/command/argv: [\"x\"]",
                "    + /nodes/a~1b/task/run/command/argv: [\"x\",\"y\"]",
                "    - /nodes/a~1b/task/run/command/env/TOKEN: (not shown)",
                "    + /nodes/a~1b/task/run/command/env/TOKEN: (not shown)",
            ]
        );
        assert!(diff(&after, &after).is_empty());
        let json = serde_json::to_string(&diff(&before, &after)).unwrap();
        assert!(!json.contains("hunter"), "{json}");
        for secret in [
            json!({"task": {"run": {"http": {"body": "hunter"}}}}),
            json!({"task": {"run": {"http": {"headers": {"authorization": "hunter"}}}}}),
            json!({"task": {"run": {"command": {"stdin": "hunter"}}}}),
            json!({"workflow": {"name": "a", "input": {"b": ["hunter"]}}}),
            json!({"workflow": {"name": "a", "input": "hunter"}}),
            json!({"defaults": {"run": {"command": {"env": "hunter"}}}}),
        ] {
            let shown = serde_json::to_string(&diff(&json!({}), &secret)).unwrap();
            assert!(!shown.contains("hunter"), "{shown}");
        }
    }
}
