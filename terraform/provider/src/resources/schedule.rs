//! `berth_schedule`.

use super::{NO_VERSION, answer, existing, timing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind, Outcome};
use crate::value::{Value, to_json};
use serde_json::{Map, Value as Json, json};

/// A schedule.
pub struct Schedule;

fn name(state: &Value) -> &str {
    state.get("name").text().unwrap_or_default()
}

/// The whole schedule, as it is stored.
fn request(planned: &Value) -> Json {
    let mut body = Map::new();
    body.insert("timing".to_owned(), timing::request(planned.get("timing")));
    for field in ["task", "overlap", "pause_after_failures", "paused"] {
        body.insert(field.to_owned(), to_json(planned.get(field)));
    }
    let catch_up = planned.get("catch_up");
    let misfire = match catch_up {
        Value::Null => to_json(planned.get("misfire")),
        catch_up => json!({"catch_up": to_json(catch_up)}),
    };
    body.insert("misfire".to_owned(), misfire);
    let workflow = planned.get("workflow");
    if !workflow.is_null() {
        let mut started = to_json(workflow);
        if let Some(input) = started["input"].as_str().and_then(|text| text.parse().ok()) {
            started["input"] = input;
        }
        body.insert("workflow".to_owned(), started);
    }
    body.retain(|_, field| !field.is_null());
    Json::Object(body)
}

/// The API's schedule as attributes.
fn attributes_of(mut schedule: Json) -> Json {
    timing::answered(&mut schedule["timing"]);
    timing::answered_task(&mut schedule["task"]);
    if let Some(input) = schedule.pointer_mut("/workflow/input").filter(|input| !input.is_null()) {
        *input = input.to_string().into();
    }
    let misfire = schedule["misfire"].take();
    if let Some(catch_up) = misfire.get("catch_up") {
        schedule["catch_up"] = catch_up.clone();
        schedule["misfire"] = json!("catch_up");
    } else {
        schedule["misfire"] = misfire;
    }
    schedule["paused"] = json!(!schedule["paused"].is_null());
    schedule
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let body = request(planned).to_string();
    let stored = berth.tenant()?.put_schedule_json(name(planned), body, version).await?;
    answer(&stored).map(attributes_of)
}

impl Resource for Schedule {
    fn name(&self) -> &'static str {
        "berth_schedule"
    }

    fn text(&self) -> &'static str {
        "A schedule of a tenant (docs/time.md): a task, or a run of a workflow, at each due time. The plan checks it as the API does. Needs `api_key` with the \
         scopes `read` and `submit`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let catch_up = vec![
            Attribute::number("count", Given::Required, "The newest so many, 1 to 1000."),
            Attribute::duration("max_age", Given::Required, "Not older than this, `1s` to `366d`."),
            Attribute::number(
                "per_second",
                Given::Optional,
                "Fires per second. Default: all at once.",
            ),
        ];
        let workflow = vec![
            Attribute::text("name", Given::Required, "Its name."),
            Attribute::text(
                "input",
                Given::Optional,
                "What its runs get, as JSON, from `jsonencode`.",
            )
            .form(Form::Json),
        ];
        vec![
            Attribute::text("name", Given::Required, "Its name.").replaces(),
            Attribute::new("timing", Kind::Object(timing::timing()), Given::Required, "When it is due."),
            Attribute::new("task", Kind::Object(timing::task()), Given::Optional, "The task of each fire; this or `workflow`."),
            Attribute::new("workflow", Kind::Object(workflow), Given::Optional, "The workflow of which each fire starts a run."),
            Attribute::text(
                "overlap",
                Given::Default("skip".into()),
                "While an earlier task has not ended: `skip`, `buffer_one`, `buffer_all`, `cancel_other` or `allow`.",
            )
            .form(Form::Words(&["skip", "buffer_one", "buffer_all", "cancel_other", "allow"])),
            Attribute::text(
                "misfire",
                Given::OrServer,
                "What overdue times do: `fire_now`, `fire_next_soon` or `skip`; `catch_up` where `catch_up` is given.",
            )
            .form(Form::Words(&["fire_now", "fire_next_soon", "skip", "catch_up"])),
            Attribute::new("catch_up", Kind::Object(catch_up), Given::Optional, "The newest overdue times fire."),
            Attribute::number("pause_after_failures", Given::Optional, "Pause after this many tasks in a row without success, 1 to 1000."),
            Attribute::switch("paused", Given::OrServer, "Whether it is paused. Default: as it is."),
            Attribute::text("id", Given::Fixed, "Its id."),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "nightly"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("name", id.into())]))
    }

    /// What stays of the state must fit to what is configured now.
    fn adjust(&self, _prior: &Value, config: &Value, outcome: &mut Outcome) {
        let planned = &mut outcome.value;
        if !config.get("task").is_null() && config.get("task").get("tier").is_null() {
            let tier = match config.get("task").get("resources") {
                Value::Null => "basic".into(),
                Value::Unknown => Value::Unknown,
                _ => Value::Null,
            };
            planned.set_in("task", "tier", tier);
        }
        let catches_up = planned.get("misfire").text() == Some("catch_up");
        let kept = config.get("misfire").is_null();
        if kept && planned.get("catch_up").is_null() == catches_up {
            planned.set("misfire", Value::Unknown);
        }
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            let catches_up = planned.get("misfire").text().map(|misfire| misfire == "catch_up");
            if catches_up.is_some_and(|named| named == planned.get("catch_up").is_null()) {
                return Err(Problem::at(
                    "misfire",
                    "Two kinds of misfire",
                    "`catch_up` as a word and `catch_up` with its numbers go together, and the other words without.",
                ));
            }
            // Its workflow may be made in the same apply.
            if !planned.get("workflow").is_null() {
                return Ok(());
            }
            put(berth, planned, NO_VERSION).await.map(drop)
        })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move {
            let schedule = existing(berth.tenant()?.schedule(name(state)).await)?;
            Ok(schedule.map(attributes_of))
        })
    }

    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, version(prior)))
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            berth.tenant()?.delete_schedule(name(prior), version(prior)).await?;
            Ok(())
        })
    }
}
