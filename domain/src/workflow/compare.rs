//! `if`: whether a value is as a node asks. A node whose test does not hold is skipped.

use super::value::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Ordering;

/// How a value is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal: numbers by their value, everything else as JSON.
    Eq(Value),
    /// Not equal.
    Ne(Value),
    /// Less: two numbers, or two strings by their characters.
    Lt(Value),
    /// Less or equal.
    Le(Value),
    /// Greater.
    Gt(Value),
    /// Greater or equal.
    Ge(Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// There is a value, or there is none.
    Exists(bool),
}

impl Comparison {
    /// Whether it holds. Of what is not there only `exists: false` holds; of values that have no order, none of `lt`, `le`, `gt`, `ge`.
    #[must_use]
    pub fn holds(&self, value: Option<&Value>) -> bool {
        let Some(value) = value else { return matches!(self, Self::Exists(false)) };
        match self {
            Self::Eq(other) => equal(value, other),
            Self::Ne(other) => !equal(value, other),
            Self::Lt(other) => order(value, other).is_some_and(Ordering::is_lt),
            Self::Le(other) => order(value, other).is_some_and(Ordering::is_le),
            Self::Gt(other) => order(value, other).is_some_and(Ordering::is_gt),
            Self::Ge(other) => order(value, other).is_some_and(Ordering::is_ge),
            Self::In(others) => others.iter().any(|other| equal(value, other)),
            Self::Exists(wanted) => *wanted,
        }
    }
}

/// A value, and what it must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test<N> {
    /// Which value.
    pub of: Source<N>,
    /// What it must be.
    pub is: Comparison,
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => order(a, b).is_some_and(Ordering::is_eq),
        _ => a == b,
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_comparison_holds_of_what_it_names() {
        let holds = |is: Value, value: Value| {
            serde_json::from_value::<Comparison>(is).unwrap().holds(Some(&value))
        };
        for (is, yes, no) in [
            (json!({"eq": 1}), json!(1.0), json!(2)),
            (json!({"eq": "a"}), json!("a"), json!("A")),
            (json!({"eq": null}), json!(null), json!(0)),
            (json!({"eq": [1, 2]}), json!([1, 2]), json!([2, 1])),
            (json!({"ne": "a"}), json!(1), json!("a")),
            (json!({"lt": 2}), json!(-1), json!(2)),
            (json!({"le": 2}), json!(2), json!(2.5)),
            (json!({"gt": "a"}), json!("b"), json!("a")),
            (
                json!({"ge": 9007199254740993i64}),
                json!(9007199254740993i64),
                json!(9007199254740992i64),
            ),
            (json!({"in": ["x", 3]}), json!(3), json!("y")),
            (json!({"exists": true}), json!(null), json!(null)),
        ] {
            assert!(holds(is.clone(), yes), "{is}");
            assert!(is == json!({"exists": true}) || !holds(is.clone(), no), "{is}");
        }
        assert!(!holds(json!({"gt": 1}), json!("2")), "a string and a number have no order");
    }

    #[test]
    fn of_what_is_not_there_only_its_absence_holds() {
        for is in
            [json!({"eq": null}), json!({"ne": 1}), json!({"in": [1]}), json!({"exists": true})]
        {
            assert!(!serde_json::from_value::<Comparison>(is).unwrap().holds(None));
        }
        assert!(Comparison::Exists(false).holds(None));
        assert!(!Comparison::Exists(false).holds(Some(&json!(1))));
    }
}
