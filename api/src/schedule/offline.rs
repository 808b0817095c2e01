//! Checks a schedule without a server, as `berth apply` does, and gives it in the form in which a server shows it.

use super::check::{Checked, NO_PARENTS, check};
use super::view::{task, workflow};
use crate::problem::{FieldError, Problem};
use crate::request::json;
use crate::task::OfflineRules;
use api_types::request::NewSchedule;
use domain::schedule::FireTemplate;
use serde_json::{Map, Value};

/// A schedule in its normal form, and what is a mistake unless it is stored so already.
#[derive(Debug)]
pub struct NormalSchedule {
    /// As `GET` shows it, without what only the server says. Without `paused` where that is left as it is.
    pub fields: Map<String, Value>,
    /// A mistake unless the whole schedule is stored so: it is not due from now on.
    pub never: Option<FieldError>,
    /// Mistakes unless the timing is stored so.
    pub refused: Vec<FieldError>,
}

/// Checks the schedule `text` as JSON.
///
/// # Errors
/// What is wrong with it. Whether its workflow exists and can run with its input is not checked.
pub fn check_offline(text: &[u8], rules: &OfflineRules<'_>) -> Result<NormalSchedule, Problem> {
    let spec: NewSchedule = json::parse(text)?;
    let checked =
        rules.apply(text, NO_PARENTS, |rules, origin| check(spec, rules, origin, rules.now))?;
    Ok(normal(checked))
}

fn normal(checked: Checked) -> NormalSchedule {
    let Checked {
        timing,
        never,
        refused,
        template,
        overlap,
        misfire,
        pause_after_failures,
        paused,
    } = checked;
    let mut fields = Map::new();
    let mut put = |name: &str, value: serde_json::Result<Value>| {
        // Nothing in it fails to be written: all of it is written by the server, too.
        fields.insert(name.to_owned(), value.unwrap_or_default());
    };
    put("timing", serde_json::to_value(timing));
    match template {
        FireTemplate::Task(template) => put("task", serde_json::to_value(task(*template))),
        FireTemplate::Workflow(start) => put("workflow", serde_json::to_value(workflow(start))),
    }
    put("overlap", serde_json::to_value(overlap));
    put("misfire", serde_json::to_value(misfire));
    if let Some(most) = pause_after_failures {
        put("pause_after_failures", Ok(most.into()));
    }
    if let Some(paused) = paused {
        put("paused", Ok(paused.into()));
    }
    NormalSchedule { fields, never, refused }
}
