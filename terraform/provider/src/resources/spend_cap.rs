//! `berth_spend_cap`. Only its amount can change; how it stands is in no state, because it changes with every task.

use super::price_book::currency;
use super::{NO_VERSION, answer, existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, to_json};
use api_types::SpendCapPut;
use domain::id::SpendCapName;
use domain::spend::MOST_AMOUNT;
use serde_json::Value as Json;

/// A spend cap.
pub struct SpendCap;

const FIELDS: [&str; 6] = ["amount", "currency", "period", "zone", "label", "schedule"];

fn name(text: &str) -> Result<String, String> {
    text.parse::<SpendCapName>().map(|name| name.to_string()).map_err(|error| error.to_string())
}

fn named(value: &Value) -> Result<SpendCapName, Problem> {
    let text = value.get("name").text().unwrap_or_default();
    text.parse()
        .map_err(|error| Problem::at("name", "Not a name of a spend cap", format!("{error}")))
}

fn request(planned: &Value) -> Result<SpendCapPut, Problem> {
    let fields = FIELDS.map(|name| (name, planned.get(name).clone()));
    serde_json::from_value(to_json(&Value::from(fields)))
        .map_err(|error| Problem::at("amount", "This is no spend cap", error.to_string()))
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let cap = request(planned)?;
    answer(&berth.tenant()?.put_spend_cap(&named(planned)?, &cap, version).await?)
}

impl Resource for SpendCap {
    fn name(&self) -> &'static str {
        "berth_spend_cap"
    }

    fn text(&self) -> &'static str {
        "A spend cap of a tenant: the most that its tasks may cost in a day or a month. It holds for what is accepted after it; what ended \
         in the present period counts. Tasks that were accepted under a cap go on when it is deleted. How much of it is used is not in the \
         state: `berth cap list` shows it. Needs `api_key` with the scope `admin`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let label = vec![
            Attribute::text("key", Given::Required, "The label."),
            Attribute::text("value", Given::Required, "Its value."),
        ];
        vec![
            Attribute::text("name", Given::Required, "Its name.")
                .form(Form::Parsed(name))
                .replaces(),
            Attribute::whole(
                "amount",
                MOST_AMOUNT.0.unsigned_abs(),
                Given::Required,
                "The most that tasks may cost in a period, micro-units: millionths of the currency's unit. Lowered below what is used, it \
                 lets running tasks go on and accepts none.",
            ),
            Attribute::text(
                "currency",
                Given::Required,
                "Code of ISO 4217, such as `EUR`. In another currency than the plan's it accepts nothing that costs.",
            )
            .form(Form::Parsed(currency))
            .replaces(),
            Attribute::text("period", Given::Required, "`day` or `month`.")
                .form(Form::Words(&["day", "month"]))
                .replaces(),
            Attribute::text(
                "zone",
                Given::Default("UTC".into()),
                "Time zone in which periods begin, such as `Europe/Berlin`.",
            )
            .replaces(),
            Attribute::new(
                "label",
                Kind::Object(label),
                Given::Optional,
                "Only tasks with this label; not together with `schedule`. Default: all tasks.",
            )
            .replaces(),
            Attribute::text(
                "schedule",
                Given::Optional,
                "Only tasks of the schedule of this name, and of the runs that it starts.",
            )
            .replaces(),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "all"
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
        Box::pin(async move { existing(berth.tenant()?.spend_cap(&named(state)?).await) })
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
            berth.tenant()?.delete_spend_cap(&named(prior)?, version(prior)).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{check, planned, state};
    use crate::value::{Path, from_json};
    use serde_json::json;

    fn config(amount: u64, period: &str, label: &Json) -> Value {
        let config = json!({
            "name": "ml", "amount": amount, "currency": "EUR", "period": period, "label": label,
        });
        crate::schema::fitted(&SpendCap.attributes(), from_json(&config))
    }

    #[test]
    fn all_but_its_amount_needs_another_cap() {
        let attributes = SpendCap.attributes();
        let label = json!({"key": "team", "value": "ml"});
        let plan = planned(&attributes, &Value::Null, &config(5, "day", &label));
        let sent = json!(request(&plan.value).unwrap());
        let mut stored = json!({
            "amount": 5, "currency": "EUR", "period": "day", "zone": "UTC", "label": label,
        });
        assert_eq!(sent, stored);
        stored["name"] = json!("ml");
        stored["version"] = json!(1);
        stored["schedule"] = Json::Null;
        stored["spent"] = json!(3);
        let after = state(&attributes, &plan.value, &stored);
        assert!(!planned(&attributes, &after, &config(5, "day", &label)).changes);
        let changed = planned(&attributes, &after, &config(6, "day", &label));
        assert!(changed.changes && changed.replaces.is_empty(), "{changed:?}");
        let other = json!({"key": "team", "value": "web"});
        for (config, path) in [
            (config(5, "month", &label), "period"),
            (config(5, "day", &other), "label"),
            (config(5, "day", &Json::Null), "label"),
        ] {
            let changed = planned(&attributes, &after, &config);
            assert_eq!(changed.replaces, [Path::of(path)]);
        }
    }

    #[test]
    fn what_is_no_amount_currency_or_period_is_found_where_it_is() {
        let mut config = config(MOST_AMOUNT.0.unsigned_abs() + 1, "week", &Json::Null);
        config.set("currency", "EURO".into());
        let found = check(&SpendCap.attributes(), &config);
        let places = found.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(places, ["amount", "currency", "period"].map(Path::of));
    }
}
