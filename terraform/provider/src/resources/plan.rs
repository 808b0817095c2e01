//! `berth_plan`. Its attributes come from the table of limits in `domain`.

use super::{NO_VERSION, answer, existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, from_json, to_json};
use domain::id::PlanName;
use domain::plan::{LIMITS, LimitRange, PlanLimits};
use serde_json::Value as Json;

/// A plan.
pub struct Plan;

/// The attributes of limits, each with this origin.
pub fn limits(given: impl Fn(Value) -> Given) -> Vec<Attribute> {
    let usual = PlanLimits::default().values();
    LIMITS
        .iter()
        .map(|limit| {
            let kind = match limit.range {
                LimitRange::Switch => Kind::Bool,
                LimitRange::Whole { .. } | LimitRange::Positive(_) => Kind::Number,
            };
            let value = usual.get(limit.name).map(from_json).unwrap_or_default();
            Attribute::new(
                limit.name,
                kind,
                given(value),
                format!("{} ({}).", limit.text.trim_end_matches('.'), limit.range),
            )
        })
        .collect()
}

/// A name in a path of the API.
pub fn name(text: &str) -> Result<String, String> {
    text.parse::<PlanName>().map(|name| name.to_string()).map_err(|error| error.to_string())
}

fn named(value: &Value) -> Result<PlanName, Problem> {
    let text = value.get("name").text().unwrap_or_default();
    text.parse().map_err(|error| Problem::at("name", "Not a name of a plan", format!("{error}")))
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let limits = Value::Map(
        LIMITS
            .iter()
            .map(|limit| (limit.name.to_owned(), planned.get(limit.name).clone()))
            .collect(),
    );
    let limits =
        serde_json::from_value::<PlanLimits>(to_json(&limits)).map_err(|error| Problem::Said {
            path: None,
            summary: "The limits are no plan".to_owned(),
            detail: error.to_string(),
        })?;
    let stored = berth.operator()?.put_plan(&named(planned)?, &limits, version).await?;
    answer(&stored)
}

impl Resource for Plan {
    fn name(&self) -> &'static str {
        "berth_plan"
    }

    fn text(&self) -> &'static str {
        "A plan: the limits of its tenants. Limits that are not given are those of a new installation's plan `default`. A change applies \
         within about two seconds. A plan with tenants cannot be deleted. Needs `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let mut attributes = vec![
            Attribute::text("name", Given::Required, "Its name.")
                .form(Form::Parsed(name))
                .replaces(),
        ];
        attributes.extend(limits(Given::Default));
        attributes.extend([
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]);
        attributes
    }

    fn import_example(&self) -> &'static str {
        "team"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("name", name(id)?.as_str().into())]))
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { put(berth, planned, NO_VERSION).await.map(drop) })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move {
            let plan = berth.operator()?.plan(&named(state)?).await;
            existing(plan)
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
            berth.operator()?.delete_plan(&named(prior)?, version(prior)).await?;
            Ok(())
        })
    }
}
