//! Workflows to store, runs to start, and what their nodes wait for.

use super::{Given, Pairs, Written};
use domain::dependency::{Condition, Join};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A workflow: a graph of named nodes.
// Each node is its JSON where it is read, because each is checked by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowDefinition, example = json!({"nodes": {
    "extract": {"task": {"run": {"command": {"argv": ["extract"]}}}},
    "load": {"after": ["extract"], "task": {"run": {"command": {"argv": ["load"], "env": {"FILE": {"$from": "extract", "pointer": "/file"}}}}}}}})))]
pub struct WorkflowDefinition<N = NewNode> {
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 1000))]
    pub description: Option<String>,
    /// Its nodes by name, 1 to 10 000; a name is 1 to 64 of `a-z A-Z 0-9 _ -`.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, NewNode>))]
    pub nodes: Entries<N>,
    /// Fields of tasks, as in `TaskSubmit`, that nodes have that do not give them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub defaults: Option<Value>,
    /// How long a run may take, such as `"2h"`. Then its tasks are cancelled, and it ends as `expired`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub deadline: Option<Given<Duration>>,
    /// Tasks of a run that run at a time. Not together with a node's `concurrency_key`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000000))]
    pub max_parallel: Option<u32>,
    /// Labels of its runs. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Labels>))]
    pub labels: Option<Pairs>,
}

/// A node: a task to run, or something to wait for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowNode))]
pub struct NewNode {
    /// Its task, as in `TaskSubmit`, without `depends_on`, `join`, `ref`, `unique_key` and `run_at`. In `argv`, `env`, `stdin`, `url`, `headers` and `body` of what it runs, a value may be `{"$from": "node", "pointer": "/a"}`,
    /// `{"$input": "/a"}` or, with `for_each`, `{"$item": "/a"}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub task: Option<Value>,
    /// What it waits for, instead of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<NewWait>,
    /// Nodes that must end first, up to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::openapi::words::NodeParent>>, max_items = 1000))]
    pub after: Option<Vec<Given<NodeParent>>>,
    /// How many of `after` must end as asked. If too few can, the node ends as `skipped`. Default: `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Join>))]
    pub join: Option<Join>,
    /// The node is skipped unless this holds: a value and one comparison, such as `{"$from": "check", "pointer": "/ok", "eq": true}`, with
    /// `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `in` or `exists`.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub test: Option<Value>,
    /// The task is run for each item: of a list, of `{"$input": "/a"}` or of `{"$from": "node", "pointer": "/a"}`. The node returns the list of
    /// what its items return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<Value>,
}

/// What a node waits for: exactly one of `signal`, `approval` and `delay`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowWait))]
pub struct NewWait {
    /// A signal with this key, a text or a value such as `{"$input": "/order"}`. The node returns the signal's payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Value>,
    /// `true`: a person, who approves or rejects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<bool>,
    /// A time after the node's parents have ended, such as `"10m"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub delay: Option<Given<Duration>>,
    /// For how long it waits for a signal or a person; then it ends as `expired`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires: Option<Given<Duration>>,
}

/// A parent of a node: its name, or `{"node", "on"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeParent {
    /// Its name.
    pub node: String,
    /// How it must end.
    pub on: Condition,
}

/// A text is no parent of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseNodeParentError;

impl fmt::Display for ParseNodeParentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must be the name of a node, or {\"node\", \"on\"} with `on` succeeded, failed, expired, finished or skipped_ok",
        )
    }
}

impl Written for NodeParent {
    type Form = Value;
    type Error = ParseNodeParentError;

    fn read(form: &Value) -> Result<Self, ParseNodeParentError> {
        match form {
            Value::String(node) => Ok(Self { node: node.clone(), on: Condition::default() }),
            Value::Object(fields) => {
                let node = fields.get("node").and_then(Value::as_str);
                let on = match fields.get("on") {
                    None => Some(Condition::default()),
                    Some(on) => on.as_str().and_then(|on| on.parse().ok()),
                };
                let (Some(node), Some(on)) = (node, on) else { return Err(ParseNodeParentError) };
                let known = fields.keys().all(|key| ["node", "on"].contains(&key.as_str()));
                known.then(|| Self { node: node.to_owned(), on }).ok_or(ParseNodeParentError)
            }
            _ => Err(ParseNodeParentError),
        }
    }

    fn write(&self) -> Value {
        match self.on {
            Condition::Succeeded => Value::from(self.node.as_str()),
            on => serde_json::json!({"node": self.node, "on": on}),
        }
    }
}

/// A map in the order in which it was written, with what is in it twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Read(PhantomData))
    }
}

/// A run to start: of a stored workflow, or of the definition that comes with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowRunStart, example = json!({"workflow": "load", "input": {"day": "2030-01-31"}})))]
pub struct NewWorkflowRun<D = WorkflowDefinition> {
    /// Name of the workflow.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Its definition, instead of a name.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<WorkflowDefinition>))]
    pub definition: Option<D>,
    /// What `{"$input": …}` reads: any JSON, at most 256 KiB. Default: null.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

fn none<T>() -> Option<T> {
    None
}

/// What of a run is run again. Without `nodes`: each node that did not succeed, and everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowRunRerun))]
pub struct WorkflowRerun {
    /// These nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_items = 1))]
    pub nodes: Option<Vec<String>>,
    /// And everything below them. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<bool>,
}

/// A signal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SignalSend))]
pub struct NewSignal {
    /// What nodes that wait for it return: any JSON, at most 64 KiB. Default: null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// For how long nodes find it that begin to wait later, at most `"720h"`. Default: `"24h"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub keep: Option<Given<Duration>>,
}

/// What a person decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TaskDecision))]
pub struct Decision {
    /// Why. In `reason` of the task, in what it returns, and in the audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 500))]
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_definition_keeps_the_order_of_its_nodes_and_reads_back_as_written() {
        let text = r#"{"nodes":{"z":{"task":{"run":{"noop":{}}}},"a":{"wait":{"approval":true,"expires":"24h"},"after":["z",{"node":"y","on":"failed"}],"join":"any"}},"max_parallel":2}"#;
        let read: WorkflowDefinition = serde_json::from_str(text).unwrap();
        let names: Vec<&str> = read.nodes.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z", "a"]);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(serde_json::from_value::<NewNode>(json!({"then": []})).is_err());
    }

    #[test]
    fn a_parent_is_a_name_or_a_name_with_a_condition() {
        let read =
            |form: Value| NodeParent::read(&form).ok().map(|parent| (parent.node, parent.on));
        assert_eq!(read(json!("a")), Some(("a".to_owned(), Condition::Succeeded)));
        assert_eq!(
            read(json!({"node": "a", "on": "expired"})),
            Some(("a".to_owned(), Condition::Expired))
        );
        for bad in [
            json!(1),
            json!({"on": "failed"}),
            json!({"node": "a", "on": true}),
            json!({"node": "a", "when": 1}),
        ] {
            assert_eq!(read(bad), None);
        }
    }
}
