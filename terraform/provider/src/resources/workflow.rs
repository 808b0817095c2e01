//! `berth_workflow`. Its definition is JSON, as the API stores it.

use super::{NO_VERSION, answer, existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given};
use crate::value::Value;
use api_types::RawJson;
use serde_json::Value as Json;

/// A workflow.
pub struct Workflow;

const DEFINITION: &str = "definition";

fn name(state: &Value) -> &str {
    state.get("name").text().unwrap_or_default()
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let text = planned.get(DEFINITION).text().unwrap_or_default();
    let definition = RawJson::parse(text)
        .ok_or_else(|| Problem::at(DEFINITION, "Not a definition", "It must be JSON."))?;
    answer(&berth.tenant()?.put_workflow(name(planned), &definition, version).await?)
}

impl Resource for Workflow {
    fn name(&self) -> &'static str {
        "berth_workflow"
    }

    fn text(&self) -> &'static str {
        "A workflow of a tenant (docs/workflows.md). The plan checks the definition as the API does. Runs of a workflow that is deleted \
         continue. Needs `api_key` with the scopes `read` and `submit`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("name", Given::Required, "Its name.").replaces(),
            Attribute::text(
                DEFINITION,
                Given::Required,
                "Its definition as JSON, from `jsonencode` or a file. \
                 Spaces and the order of fields do not count.",
            )
            .form(Form::Json),
            Attribute::number("nodes", Given::Server, "Number of its nodes."),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "load"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("name", id.into())]))
    }

    fn body(&self) -> Option<&'static str> {
        Some(DEFINITION)
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { put(berth, planned, NO_VERSION).await.map(drop) })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move { existing(berth.tenant()?.workflow(name(state)).await) })
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
            berth.tenant()?.delete_workflow(name(prior), version(prior)).await?;
            Ok(())
        })
    }
}
