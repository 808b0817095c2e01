//! `berth_plan`. Its attributes come from the table of limits in `domain`.

use super::{MOST, NO_VERSION, answer, existing, price_book, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, from_json, to_json};
use domain::id::PlanName;
use domain::plan::{LIMITS, LimitRange, PlanLimits, PutPlan};
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

/// The whole plan, as it is stored. Without `billing` it ends what the plan was billed by: what is not sent would stay.
fn request(planned: &Value) -> Result<PutPlan, Problem> {
    let limits =
        LIMITS.iter().map(|limit| (limit.name.to_owned(), planned.get(limit.name).clone()));
    let mut body = to_json(&Value::Map(limits.collect()));
    body["billing"] = to_json(planned.get("billing"));
    serde_json::from_value(body).map_err(|error| Problem::Said {
        path: None,
        summary: "The limits are no plan".to_owned(),
        detail: error.to_string(),
    })
}

fn billing() -> Vec<Attribute> {
    let number = |name, text| Attribute::whole(name, MOST, Given::Default(0.into()), text);
    let included = vec![
        number("attempts", "Of the cost of attempts, micro-units."),
        number("tasks", "Tasks."),
        number("fires", "Fires of schedules."),
    ];
    vec![
        Attribute::text("price_book", Given::Required, "Name of the price book.")
            .form(Form::Parsed(price_book::name)),
        Attribute::defaults("included", included, "What each month includes. Default: nothing."),
        number("minimum", "The least that a month comes to, micro-units."),
    ]
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let plan = request(planned)?;
    answer(&berth.operator()?.put_plan(&named(planned)?, &plan, version).await?)
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
            Attribute::new(
                "billing",
                Kind::Object(billing()),
                Given::Optional,
                "By which prices it is billed. A change holds for attempts that are placed after it. Default: by none.",
            ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::planned;
    use domain::price::PutBilling;

    #[test]
    fn billing_is_always_sent_and_null_where_it_is_not_given() {
        let sent = |billing: Value| {
            let config = Value::from([("name", "team".into()), ("billing", billing)]);
            let plan = planned(&Plan.attributes(), &Value::Null, &config);
            request(&plan.value).unwrap().billing
        };
        assert_eq!(sent(Value::Null), PutBilling::Is(None));
        let given = Value::from([("price_book", "eur".into()), ("minimum", 5.into())]);
        let PutBilling::Is(Some(billing)) = sent(given) else { panic!("none is sent") };
        assert_eq!((billing.price_book.as_str(), billing.minimum), ("eur", 5));
        assert_eq!((billing.included.attempts, billing.included.tasks), (0, 0));
    }
}
