//! JSON merge patch (RFC 7396).
//!
//! Used for reruns and edits of schedules. The rule: fields that are not in the patch stay, and `null` removes a field.

use serde_json::{Map, Value};

/// Deepest level that is merged; deeper values are replaced. Parsed documents are not deeper.
const MAX_DEPTH: usize = 128;

/// Applies `patch` to `target`.
pub fn apply(target: &mut Value, patch: Value) {
    apply_at(target, patch, 0);
}

/// Combines two patches into one with the effect of both in order.
pub fn merge(patch: &mut Value, later: Value) {
    match (patch, later) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                match fields.get_mut(&name) {
                    Some(field) => merge(field, change),
                    None => _ = fields.insert(name, change),
                }
            }
        }
        (patch, later) => *patch = later,
    }
}

fn apply_at(target: &mut Value, patch: Value, depth: usize) {
    let Value::Object(changes) = patch else {
        *target = patch;
        return;
    };
    if depth == MAX_DEPTH {
        *target = Value::Object(changes);
        return;
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(&name);
        } else {
            apply_at(fields.entry(name).or_insert(Value::Null), change, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_examples_of_the_standard_come_out_as_it_says() {
        for (target, patch, wanted) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"a": "foo"}), json!("bar"), json!("bar")),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut changed = target.clone();
            apply(&mut changed, patch.clone());
            assert_eq!(changed, wanted, "{target} and {patch}");
        }
    }

    #[test]
    fn two_patches_in_one_change_what_both_do() {
        let first = json!({"a": 1, "b": {"c": 2, "d": null}, "e": null});
        let later = json!({"b": {"c": null, "f": 3}, "e": {"g": 4}});
        let mut both = first.clone();
        merge(&mut both, later.clone());
        assert_eq!(both, json!({"a": 1, "b": {"c": null, "d": null, "f": 3}, "e": {"g": 4}}));
        let mut one_by_one = json!({"b": {"c": 0, "d": 0}, "e": 0});
        let mut at_once = one_by_one.clone();
        apply(&mut one_by_one, first);
        apply(&mut one_by_one, later);
        apply(&mut at_once, both);
        assert_eq!(at_once, one_by_one);
    }
}
