//! What has to change so that what exists is what files say.

use super::check::{Normal, Rules};
use super::diff::{FieldChange, diff};
use super::kind::Kind;
use super::selector::{LabelValue, carries};
use super::stored::Stored;
use api::problem::FieldError;
use client::RawJson;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// What is done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Create,
    Update,
    Delete,
    Unchanged,
}

/// What is to be done with one object.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub kind: Kind,
    pub name: String,
    pub action: Action,
    /// The version that this was made from; 0: there was none. `None`: the kind has no versions.
    pub version: Option<i64>,
    /// What is sent.
    pub body: Option<RawJson>,
    pub diff: Vec<FieldChange>,
}

/// Compares an object with what exists.
///
/// # Errors
/// What is a mistake unless it is stored so already.
pub(super) fn change(
    (kind, name): (Kind, &str),
    wanted: &Normal,
    stored: Option<&Stored>,
    rules: &Rules,
) -> Result<Change, Vec<FieldError>> {
    let empty = Value::Object(serde_json::Map::new());
    let value = stored.map_or(&empty, |stored| &stored.value);
    let before = like(kind, value, &wanted.value);
    let is_same = stored.is_some_and(|stored| is_same(stored, (&before, wanted), rules));
    let mut mistakes = Vec::new();
    if !is_same {
        mistakes.extend(wanted.never.clone());
        if before.get("timing") != wanted.value.get("timing") {
            mistakes.extend(wanted.refused.iter().cloned());
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let version = match (kind, stored) {
        (Kind::ConcurrencyLimit, _) => None,
        (_, None) => Some(0),
        (_, Some(stored)) => stored.version,
    };
    let (action, diff) = match stored {
        _ if is_same => (Action::Unchanged, Vec::new()),
        Some(_) => (Action::Update, changed(&before, &wanted.value)),
        None => (Action::Create, diff(&empty, &wanted.value)),
    };
    let body = (action != Action::Unchanged).then(|| wanted.body.clone());
    Ok(Change { kind, name: name.to_owned(), action, version, body, diff })
}

/// Whether a server would leave it alone, or what it runs stays the same.
fn is_same(stored: &Stored, (before, wanted): (&Value, &Normal), rules: &Rules) -> bool {
    if stored.kind != Kind::Workflow {
        return *before == wanted.value;
    }
    // The order of nodes is part of a plan, and the form of a duration is not.
    before.get("description") == wanted.value.get("description")
        && wanted.plan.is_some()
        && rules.plan(&stored.text) == wanted.plan
}

/// What differs, which may be the order of nodes alone.
fn changed(before: &Value, after: &Value) -> Vec<FieldChange> {
    let changes = diff(before, after);
    if !changes.is_empty() {
        return changes;
    }
    let after = Some("(in another order)".into());
    vec![FieldChange { field: "/nodes".to_owned(), before: None, after }]
}

/// What is stored, to be compared with `wanted`: whether a schedule is paused counts only where the file says so.
fn like(kind: Kind, stored: &Value, wanted: &Value) -> Value {
    let mut stored = stored.clone();
    if let (Kind::Schedule, Some(fields)) = (kind, stored.as_object_mut()) {
        if wanted.get("paused").is_none() {
            fields.remove("paused");
        } else if !fields.is_empty() {
            fields.entry("paused").or_insert(Value::Bool(false));
        }
    }
    stored
}

/// What `--prune` deletes: what carries the labels and is in no file.
pub(super) fn pruned(
    stored: &[Stored],
    wanted: &HashSet<(Kind, String)>,
    selector: &[LabelValue],
) -> Vec<Change> {
    let mut pruned = Vec::new();
    for kind in Kind::PRUNED {
        let is_meant = |one: &&Stored| {
            one.kind == kind
                && !wanted.contains(&(kind, one.name.clone()))
                && carries(&one.labels(), selector)
        };
        pruned.extend(stored.iter().filter(is_meant).map(deleted));
    }
    pruned
}

/// The deletion of an object in the version in which it was read.
pub(super) fn deleted(stored: &Stored) -> Change {
    let Stored { kind, name, version, .. } = stored;
    Change {
        kind: *kind,
        name: name.clone(),
        action: Action::Delete,
        version: *version,
        body: None,
        diff: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::selector::label;
    use super::*;
    use serde_json::json;

    fn stored(kind: Kind, name: &str, value: Value) -> Stored {
        Stored { kind, name: name.to_owned(), version: Some(3), text: value.to_string(), value }
    }

    fn compared(
        kind: Kind,
        wanted: &Value,
        before: Option<Value>,
    ) -> Result<Change, Vec<FieldError>> {
        let rules = Rules::lenient().unwrap();
        let wanted = rules.normal(kind, RawJson::parse(&wanted.to_string()).unwrap()).unwrap();
        let before = before.map(|value| stored(kind, "a", value));
        change((kind, "a"), &wanted, before.as_ref(), &rules)
    }

    fn schedule(every: &str) -> Value {
        json!({"timing": {"specs": [{"every": {"every": every}}]}, "task": {"run": {"noop": {}}}})
    }

    fn shown(every: &str) -> Value {
        let rules = Rules::lenient().unwrap();
        let body = RawJson::parse(&schedule(every).to_string()).unwrap();
        rules.normal(Kind::Schedule, body).unwrap().value
    }

    #[test]
    fn what_means_the_same_is_left_alone() {
        let same = compared(Kind::Schedule, &schedule("90s"), Some(shown("1m30s"))).unwrap();
        assert_eq!((same.action, same.version), (Action::Unchanged, Some(3)));
        let other = compared(Kind::Schedule, &schedule("90s"), Some(shown("2m"))).unwrap();
        assert_eq!(other.action, Action::Update);
        assert_eq!(other.diff.len(), 1, "{:?}", other.diff);
        let new = compared(Kind::Schedule, &schedule("90s"), None).unwrap();
        assert_eq!((new.action, new.version), (Action::Create, Some(0)));
    }

    #[test]
    fn a_schedule_stays_paused_unless_the_file_says_otherwise() {
        let with = |mut value: Value, paused: bool| {
            value["paused"] = json!(paused);
            value
        };
        let paused = || Some(with(shown("90s"), true));
        let action = |wanted: Value, before| {
            compared(Kind::Schedule, &wanted, before).map(|change| change.action)
        };
        assert_eq!(action(schedule("90s"), paused()), Ok(Action::Unchanged));
        assert_eq!(action(with(schedule("90s"), true), paused()), Ok(Action::Unchanged));
        assert_eq!(action(with(schedule("90s"), false), paused()), Ok(Action::Update));
        assert_eq!(action(with(schedule("90s"), false), Some(shown("90s"))), Ok(Action::Unchanged));
        assert_eq!(action(with(schedule("90s"), true), Some(shown("90s"))), Ok(Action::Update));
    }

    #[test]
    fn the_order_of_nodes_counts_and_the_form_of_a_duration_does_not() {
        let of = |cap: &str| json!({"nodes": {"a": {"task": {"run": {"noop": {}}, "execution_cap": cap}}}, "description": "x"});
        let action = |wanted: &Value, before: Value| {
            compared(Kind::Workflow, wanted, Some(before)).unwrap().action
        };
        assert_eq!(action(&of("90s"), of("1m30s")), Action::Unchanged);
        assert_eq!(action(&of("90s"), of("2m")), Action::Update);
        let mut described = of("90s");
        described["description"] = json!("y");
        assert_eq!(action(&described, of("90s")), Action::Update);
        assert_eq!(action(&of("90s"), json!({"nodes": {"a": {"later": 1}}})), Action::Update);
        let rules = Rules::lenient().unwrap();
        let node = |name: &str| format!(r#""{name}": {{"wait": {{"approval": true}}}}"#);
        let (ab, ba) = (
            format!(r#"{{"nodes": {{{}, {}}}}}"#, node("a"), node("b")),
            format!(r#"{{"nodes": {{{}, {}}}}}"#, node("b"), node("a")),
        );
        let wanted = rules.normal(Kind::Workflow, RawJson::parse(&ba).unwrap()).unwrap();
        let value = serde_json::from_str(&ab).unwrap();
        let before = Stored { text: ab, ..stored(Kind::Workflow, "a", value) };
        let change = change((Kind::Workflow, "a"), &wanted, Some(&before), &rules).unwrap();
        assert_eq!((change.action, change.diff[0].field.as_str()), (Action::Update, "/nodes"));
    }

    #[test]
    fn what_is_over_is_a_mistake_unless_it_is_stored_so() {
        let over = json!({"timing": {"specs": [{"at": "2020-01-01T00:00:00Z"}]}, "task": {"run": {"noop": {}}}});
        let rules = Rules::lenient().unwrap();
        let shown = rules.normal(Kind::Schedule, RawJson::parse(&over.to_string()).unwrap());
        let shown = shown.unwrap().value;
        assert!(compared(Kind::Schedule, &over, None).is_err());
        assert_eq!(compared(Kind::Schedule, &over, Some(shown)).unwrap().action, Action::Unchanged);
    }

    #[test]
    fn only_what_carries_the_label_and_is_in_no_file_is_deleted_schedules_first() {
        let labels = json!({"app": "shop"});
        let of_task = json!({"task": {"labels": labels}});
        let of_runs = json!({"labels": labels});
        let exists = [
            stored(Kind::Workflow, "load", of_runs.clone()),
            stored(Kind::Workflow, "kept", of_runs.clone()),
            stored(
                Kind::Workflow,
                "nodes-only",
                json!({"nodes": {"a": {"task": {"labels": labels}}}, "defaults": of_runs}),
            ),
            stored(Kind::Schedule, "nightly", of_task.clone()),
            stored(Kind::Schedule, "other", json!({"task": {"labels": {"app": "blog"}}})),
            stored(Kind::Schedule, "runs", json!({"workflow": {"name": "load"}})),
            stored(Kind::Schedule, "load", of_task),
            stored(Kind::ConcurrencyLimit, "exports", of_runs.clone()),
            stored(Kind::User, "ann@example.com", of_runs),
        ];
        let wanted = HashSet::from([
            (Kind::Workflow, "kept".to_owned()),
            (Kind::Schedule, "load".to_owned()),
        ]);
        let deleted = pruned(&exists, &wanted, &[label("app=shop").unwrap()]);
        let names: Vec<_> = deleted.iter().map(|one| (one.kind, one.name.as_str())).collect();
        assert_eq!(names, [(Kind::Schedule, "nightly"), (Kind::Workflow, "load")]);
        assert!(deleted.iter().all(|one| one.version == Some(3) && one.action == Action::Delete));
        assert!(pruned(&exists, &wanted, &[]).is_empty());
    }
}
