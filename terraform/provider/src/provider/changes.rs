//! Plans and applies.

use super::extra::within;
use super::problem::error;
use super::registry::Entry;
use super::{Berth, Problem, Resource};
use crate::plugin::messages::Diagnostic;
use crate::schema::{Outcome, planned, state};
use crate::value::Value;
use api_types::ErrorCode;

/// Plans a change: what will be, and what the API would refuse.
pub async fn plan(
    entry: &Entry<dyn Resource>,
    berth: &Berth,
    prior: &Value,
    config: &Value,
) -> (Outcome, Vec<Diagnostic>) {
    let mut outcome = planned(&entry.attributes, prior, config);
    entry.does.adjust(prior, config, &mut outcome);
    let mut diagnostics = Vec::new();
    if !outcome.replaces.is_empty() {
        diagnostics = plan_delete(entry, prior);
    }
    // What is not known yet is checked by the plan of the apply. Terraform plans once more what is replaced, as new.
    if outcome.changes && outcome.replaces.is_empty() && config.is_known() {
        let checked = within(config, "read", entry.does.check(berth, &outcome.value)).await;
        if let Err(problem) = checked {
            diagnostics = refusals(entry, &problem);
        }
    }
    (outcome, diagnostics)
}

/// What forbids a deletion.
pub fn plan_delete(entry: &Entry<dyn Resource>, prior: &Value) -> Vec<Diagnostic> {
    match entry.does.check_delete(prior) {
        Ok(()) => Vec::new(),
        Err(problem) => explain(entry, "delete", &problem),
    }
}

/// Of a request that is fine the API says that the version is another. Without settings there is none to ask.
fn refusals(entry: &Entry<dyn Resource>, problem: &Problem) -> Vec<Diagnostic> {
    match problem {
        Problem::Api(_) if problem.is(ErrorCode::VersionMismatch) => Vec::new(),
        Problem::NotYet => Vec::new(),
        problem => explain(entry, "plan", problem),
    }
}

/// Makes a plan true. The state after it, also where it failed.
pub async fn apply(
    entry: &Entry<dyn Resource>,
    berth: &Berth,
    prior: &Value,
    wanted: &Value,
) -> (Value, Vec<Diagnostic>) {
    let does = &entry.does;
    if wanted.is_null() {
        let delete = async {
            does.check_delete(prior)?;
            does.delete(berth, prior).await
        };
        return match within(prior, "delete", delete).await {
            Ok(()) => (Value::Null, Vec::new()),
            Err(problem) if problem.is(ErrorCode::NotFound) => (Value::Null, Vec::new()),
            Err(problem) => (prior.clone(), explain(entry, "delete", &problem)),
        };
    }
    let (verb, done) = if prior.is_null() {
        ("create", within(wanted, "create", create(entry, berth, wanted)).await)
    } else {
        let update = async {
            let answer = does.update(berth, prior, wanted).await?;
            Ok(state(&entry.attributes, wanted, &answer))
        };
        ("update", within(wanted, "update", update).await)
    };
    match done {
        Ok(value) => (value, Vec::new()),
        Err(problem) => (prior.clone(), explain(entry, verb, &problem)),
    }
}

/// Creates a resource. What exists exactly as planned is taken over: its creation may be that of an apply that was cut off.
async fn create(
    entry: &Entry<dyn Resource>,
    berth: &Berth,
    wanted: &Value,
) -> Result<Value, Problem> {
    let conflict = match entry.does.create(berth, wanted).await {
        Ok(answer) => return Ok(state(&entry.attributes, wanted, &answer)),
        Err(problem) if problem.is(ErrorCode::VersionMismatch) => problem,
        Err(problem) => return Err(problem),
    };
    if let Some(answer) = entry.does.read(berth, wanted).await? {
        let found = state(&entry.attributes, wanted, &answer);
        if agrees(wanted, &found) {
            return Ok(found);
        }
        let name = entry.does.name();
        return Err(Problem::Said {
            path: None,
            summary: format!("{name}: it exists already"),
            detail: format!(
                "It exists and is not as planned. Import it, and plan the difference: terraform import {name}.… {}",
                entry.does.import_example()
            ),
        });
    }
    Err(conflict)
}

/// Whether `found` is as planned, as far as the plan says.
fn agrees(planned: &Value, found: &Value) -> bool {
    match (planned, found) {
        (Value::Unknown, _) => true,
        (Value::Map(planned), Value::Map(fields)) => {
            planned.len() == fields.len()
                && planned.iter().all(|(name, field)| agrees(field, found.get(name)))
        }
        (Value::List(planned), Value::List(found)) => {
            planned.len() == found.len()
                && planned.iter().zip(found).all(|(planned, found)| agrees(planned, found))
        }
        (planned, found) => planned == found,
    }
}

/// Diagnostics of a problem with a resource.
pub fn explain(entry: &Entry<dyn Resource>, verb: &str, problem: &Problem) -> Vec<Diagnostic> {
    problem.diagnostics((verb, entry.does.name()), &entry.attributes, entry.does.body())
}

/// A value that Terraform sent and that cannot be read.
pub fn unreadable(reason: &str) -> Diagnostic {
    error("The provider cannot read what Terraform sent".to_owned(), reason.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_agrees_with_a_plan_only_where_all_that_is_planned_is_so() {
        let planned = Value::from([("name", "a".into()), ("id", Value::Unknown)]);
        let found = |name: &str| Value::from([("name", name.into()), ("id", "i".into())]);
        assert!(agrees(&planned, &found("a")));
        assert!(!agrees(&planned, &found("b")));
        assert!(!agrees(&Value::Map([].into()), &found("a")), "it has names that are not planned");
    }
}
