//! What changes of a task that is to be submitted again: as JSON, in the form in which tasks are submitted.
//!
//! Called for reruns and for edits of a schedule's task. A merge patch alone would put two drivers side by side, or a tier beside
//! resources, which are refused together: what is named takes the place of what it excludes.

use crate::merge_patch;
use serde_json::{Map, Value};

/// Changes `spec` as the merge patch `change` says.
pub fn change(spec: &mut Value, change: Map<String, Value>) {
    if let Some(fields) = spec.as_object_mut() {
        for (given, other) in [("tier", "resources"), ("resources", "tier")] {
            if change.get(given).is_some_and(|value| !value.is_null()) {
                fields.remove(other);
            }
        }
        let run = change.get("run").and_then(Value::as_object);
        let driver = run.and_then(|run| run.iter().find(|(_, of)| !of.is_null()));
        if let (Some((driver, _)), Some(Value::Object(run))) = (driver, fields.get_mut("run")) {
            run.retain(|name, _| name == driver);
        }
    }
    merge_patch::apply(spec, Value::Object(change));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changed(by: Value) -> Value {
        let mut spec =
            json!({"tier": "basic", "run": {"command": {"argv": ["a"], "env": {"A": "1"}}}});
        let Value::Object(by) = by else { panic!("an object") };
        change(&mut spec, by);
        spec
    }

    #[test]
    fn what_is_named_takes_the_place_of_what_it_excludes() {
        let resources = json!({"cpu_millis": 1, "memory_mib": 1});
        let own = changed(json!({"resources": resources}));
        assert_eq!((&own["tier"], &own["resources"]), (&Value::Null, &resources));
        let noop = changed(json!({"run": {"noop": {"sleep": "1s"}}}));
        assert_eq!(noop["run"], json!({"noop": {"sleep": "1s"}}));
    }

    #[test]
    fn what_is_not_named_stays() {
        let env = changed(json!({"run": {"command": {"env": {"B": "2"}}}}));
        assert_eq!(env["run"]["command"], json!({"argv": ["a"], "env": {"A": "1", "B": "2"}}));
        assert_eq!(changed(json!({}))["tier"], "basic");
        assert_eq!(changed(json!({"resources": null}))["tier"], "basic");
    }
}
