//! The fields of a schedule's form, and the document of the API that they stand for.
//!
//! A stored schedule may hold more than the form has fields for: several timings, an HTTP call, labels. That stays as it is stored,
//! and the form says so; the document as a whole can be edited, too.

use crate::form::Fields;
use serde_json::{Map, Value, json};

/// The fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entered {
    pub name: String,
    pub cron: String,
    pub every: String,
    pub zone: String,
    pub command: String,
    pub workflow: String,
    pub input: String,
    pub tier: String,
    pub execution_cap: String,
    pub max_attempts: String,
    pub overlap: String,
    /// The whole as JSON, instead of the fields.
    pub document: Option<String>,
}

/// Which parts of a stored schedule the form has fields for; the others are shown and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fits {
    pub timing: bool,
    pub command: bool,
    pub is_workflow: bool,
    pub is_task: bool,
}

impl Fits {
    /// A schedule that is not stored yet: all of it.
    pub(super) const NEW: Self =
        Self { timing: true, command: true, is_workflow: true, is_task: true };

    /// Those of a stored one.
    pub(super) fn of(base: &Value) -> Self {
        let specs = base["timing"]["specs"].as_array().map_or(&[][..], Vec::as_slice);
        let is_simple =
            |spec: &Value| spec["cron"].is_string() || spec["every"]["every"].is_string();
        Self {
            timing: matches!(specs, [spec] if is_simple(spec)),
            command: script(base).is_some(),
            is_workflow: base["workflow"].is_object(),
            is_task: base["task"].is_object(),
        }
    }
}

/// What bash runs, where the task is just that.
fn script(base: &Value) -> Option<&str> {
    match base["task"]["run"]["command"]["argv"].as_array()?.as_slice() {
        [shell, flag, script] if *shell == "bash" && *flag == "-c" => script.as_str(),
        _ => None,
    }
}

impl Entered {
    /// As a browser sent them.
    pub(super) fn read(form: &Fields) -> Self {
        let text = |name| form.text(name).to_owned();
        let lines = |name| form.get(name).unwrap_or_default().replace("\r\n", "\n");
        Self {
            name: text("name"),
            cron: text("cron"),
            every: text("every"),
            zone: text("zone"),
            command: lines("command"),
            workflow: text("workflow"),
            input: lines("input"),
            tier: text("tier"),
            execution_cap: text("execution_cap"),
            max_attempts: text("max_attempts"),
            overlap: text("overlap"),
            document: (form.text("as") == "document").then(|| lines("document")),
        }
    }

    /// Of a stored schedule.
    pub(super) fn of(name: &str, base: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (spec, task) = (&base["timing"]["specs"][0], &base["task"]);
        let input = &base["workflow"]["input"];
        let overlap = text(&base["overlap"]);
        Self {
            name: name.to_owned(),
            cron: text(&spec["cron"]),
            every: text(&spec["every"]["every"]),
            zone: text(&base["timing"]["zone"]),
            command: script(base).unwrap_or_default().to_owned(),
            workflow: text(&base["workflow"]["name"]),
            input: if input.is_null() { String::new() } else { input.to_string() },
            tier: text(&task["tier"]),
            execution_cap: text(&task["execution_cap"]),
            max_attempts: task["max_attempts"].as_u64().map(|n| n.to_string()).unwrap_or_default(),
            // The form's first choice.
            overlap: if overlap == "skip" { String::new() } else { overlap },
            document: None,
        }
    }

    /// The document: what is stored, with the fields put in.
    ///
    /// # Errors
    /// What is wrong with a text that must be JSON, and the field that has it.
    pub(super) fn document(&self, base: Option<&Value>) -> Result<Value, (&'static str, String)> {
        if let Some(text) = &self.document {
            let read: Result<Map<String, Value>, _> = serde_json::from_str(text);
            return read.map(Value::from).map_err(|error| ("/document", not_json(&error)));
        }
        let fits = base.map_or(Fits::NEW, Fits::of);
        let mut document = base.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut timing = object(document.get("timing"));
        if fits.timing {
            timing.insert("specs".to_owned(), json!([self.spec(base)]));
        }
        set(&mut timing, "zone", &self.zone);
        document.insert("timing".to_owned(), timing.into());
        let is_run = if base.is_some() { fits.is_workflow } else { !self.workflow.is_empty() };
        if is_run {
            let mut workflow = Map::from_iter([("name".to_owned(), self.workflow.as_str().into())]);
            if !self.input.trim().is_empty() {
                let input: Value = serde_json::from_str(&self.input)
                    .map_err(|error| ("/workflow/input", not_json(&error)))?;
                workflow.insert("input".to_owned(), input);
            }
            document.insert("workflow".to_owned(), workflow.into());
        } else {
            document.insert("task".to_owned(), self.task(base, fits).into());
        }
        // The form's first choice is what the server does where nothing is said.
        let usual = if document.contains_key("overlap") { "skip" } else { "" };
        let overlap = if self.overlap.is_empty() { usual } else { &self.overlap };
        set(&mut document, "overlap", overlap);
        Ok(document.into())
    }

    fn spec(&self, base: Option<&Value>) -> Value {
        if self.every.is_empty() {
            return json!({"cron": self.cron});
        }
        // Its anchor stays.
        let mut every = object(base.map(|base| &base["timing"]["specs"][0]["every"]));
        every.insert("every".to_owned(), self.every.as_str().into());
        json!({"every": every})
    }

    fn task(&self, base: Option<&Value>, fits: Fits) -> Map<String, Value> {
        let mut task = object(base.map(|base| &base["task"]));
        if fits.command {
            let argv = if self.command.trim().is_empty() {
                json!([])
            } else {
                json!(["bash", "-c", self.command])
            };
            let mut run = object(task.get("run"));
            let mut command = object(run.get("command"));
            command.insert("argv".to_owned(), argv);
            run.insert("command".to_owned(), command.into());
            task.insert("run".to_owned(), run.into());
        }
        if !self.tier.is_empty() {
            task.remove("resources");
        }
        set(&mut task, "tier", &self.tier);
        set(&mut task, "execution_cap", &self.execution_cap);
        set(&mut task, "max_attempts", &self.max_attempts);
        if let Ok(number) = self.max_attempts.parse::<u32>() {
            task.insert("max_attempts".to_owned(), number.into());
        }
        task
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("This is not JSON as it is wanted here: {error}.")
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// What is left empty has the server's default.
fn set(object: &mut Map<String, Value>, name: &str, text: &str) {
    if text.is_empty() {
        object.remove(name);
    } else {
        object.insert(name.to_owned(), text.into());
    }
}

/// What a PUT takes of a schedule that was read.
pub(super) fn stored(schedule: &Value) -> Value {
    let fields = ["timing", "task", "workflow", "overlap", "misfire", "pause_after_failures"];
    let kept = fields.into_iter().filter_map(|name| {
        let value = schedule.get(name).filter(|value| !value.is_null())?;
        Some((name.to_owned(), value.clone()))
    });
    Map::from_iter(kept).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Value {
        json!({
            "timing": {"specs": [{"cron": "0 2 * * *"}], "zone": "Europe/Berlin", "jitter": "5m"},
            "task": {"run": {"command": {"argv": ["bash", "-c", "x"], "env": {"A": "1"}}}, "tier": "basic", "execution_cap": "1m",
                     "max_attempts": 3, "labels": {"team": "a"}},
            "overlap": "skip", "misfire": "skip"
        })
    }

    #[test]
    fn what_the_form_has_no_field_for_stays() {
        let base = base();
        let mut entered = Entered::of("n", &base);
        let mut wanted = base.clone();
        assert_eq!(entered.document(Some(&base)).unwrap(), wanted);
        (entered.cron, entered.every, entered.command) =
            (String::new(), "6h".to_owned(), "y".to_owned());
        wanted["timing"]["specs"] = json!([{"every": {"every": "6h"}}]);
        wanted["task"]["run"]["command"]["argv"] = json!(["bash", "-c", "y"]);
        assert_eq!(entered.document(Some(&base)).unwrap(), wanted);
    }

    #[test]
    fn timings_and_runs_without_fields_are_kept_as_they_are() {
        let mut base = base();
        base["timing"]["specs"] = json!([{"cron": "0 2 * * *"}, {"at": "2030-01-31T12:00:00Z"}]);
        base["task"]["run"] = json!({"http": {"url": "https://example.com"}});
        let fits = Fits::of(&base);
        assert!(!fits.timing && !fits.command && fits.is_task);
        let document = Entered::of("n", &base).document(Some(&base)).unwrap();
        assert_eq!((&document["timing"], &document["task"]), (&base["timing"], &base["task"]));
    }

    #[test]
    fn a_new_one_is_a_script_or_a_run_and_bad_json_is_told() {
        let new =
            Entered { cron: "@daily".to_owned(), command: "x".to_owned(), ..Entered::default() };
        let wanted = json!({"timing": {"specs": [{"cron": "@daily"}]}, "task": {"run": {"command": {"argv": ["bash", "-c", "x"]}}}});
        assert_eq!(new.document(None).unwrap(), wanted);
        let run =
            Entered { workflow: "w".to_owned(), input: "{\"a\": 1}".to_owned(), ..new.clone() };
        let document = run.document(None).unwrap();
        assert_eq!(
            (&document["workflow"], document.get("task")),
            (&json!({"name": "w", "input": {"a": 1}}), None)
        );
        let wrong = Entered { input: "{".to_owned(), ..run }.document(None).unwrap_err();
        assert_eq!(wrong.0, "/workflow/input");
        let whole = Entered { document: Some("[]".to_owned()), ..new };
        assert_eq!(whole.document(None).unwrap_err().0, "/document");
    }
}
