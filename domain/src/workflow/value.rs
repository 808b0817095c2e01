//! Where a value comes from: the run's input, what another node returned, or the item of a `for_each`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a value comes from. `N` names a node: its place in a [`super::Plan`], its task in a [`super::Gate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source<N> {
    /// It is known.
    Given(Value),
    /// What the run was started with, at this JSON pointer.
    Input(String),
    /// What this node returned, at this JSON pointer.
    Node(N, String),
    /// The item that the task is for, at this JSON pointer.
    Item(String),
}

impl<N> Source<N> {
    /// The same with another name for its node.
    pub fn map<M>(&self, name: impl Fn(&N) -> M) -> Source<M> {
        match self {
            Self::Given(value) => Source::Given(value.clone()),
            Self::Input(pointer) => Source::Input(pointer.clone()),
            Self::Node(node, pointer) => Source::Node(name(node), pointer.clone()),
            Self::Item(pointer) => Source::Item(pointer.clone()),
        }
    }

    /// The node that it reads.
    #[must_use]
    pub const fn node(&self) -> Option<&N> {
        match self {
            Self::Node(node, _) => Some(node),
            Self::Given(_) | Self::Input(_) | Self::Item(_) => None,
        }
    }

    /// Its JSON pointer; of what is known, the whole.
    #[must_use]
    pub fn pointer(&self) -> &str {
        match self {
            Self::Given(_) => "",
            Self::Input(pointer) | Self::Node(_, pointer) | Self::Item(pointer) => pointer,
        }
    }
}

/// Whether `text` is a JSON pointer (RFC 6901): empty, or steps that each begin with `/`, with `~` only in `~0` and `~1`.
#[must_use]
pub fn is_pointer(text: &str) -> bool {
    let escaped = |step: &str| step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    text.is_empty() || (text.starts_with('/') && escaped(text))
}

/// The part of `value` at `pointer`.
#[must_use]
pub fn at_pointer(value: &Value, pointer: &str) -> Option<Value> {
    value.pointer(pointer).cloned()
}

/// A value as an argument, a variable, a header or a body: a string as it is, anything else as compact JSON.
#[must_use]
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_is_empty_or_begins_with_a_slash() {
        for good in ["", "/", "/a/b", "/a~1b", "/a~0b", "/0", "//"] {
            assert!(is_pointer(good), "{good}");
        }
        for bad in ["a", "/a~b", "/~", "a/b", "#/a"] {
            assert!(!is_pointer(bad), "{bad}");
        }
    }

    #[test]
    fn a_string_is_itself_and_all_else_is_json() {
        for (value, text) in [
            (json!("a b"), "a b"),
            (json!(1.5), "1.5"),
            (json!(true), "true"),
            (json!(null), "null"),
            (json!({"a": [1, "x"]}), r#"{"a":[1,"x"]}"#),
        ] {
            assert_eq!(text_of(&value), text);
        }
    }
}
