//! `berth_price_book`.
//!
//! Prices that are in effect never change. The plan says so too, by the clock of this machine; the API has the last word.

use super::timing::TIERS;
use super::{MOST, NO_VERSION, answer, existing, now, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind, path_of};
use crate::value::{Value, to_json};
use api_types::ErrorCode;
use domain::id::PriceBookName;
use domain::price::{Currency, MOST_RATE};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A price book.
pub struct PriceBook;

/// A name in a path of the API.
pub fn name(text: &str) -> Result<String, String> {
    text.parse::<PriceBookName>().map(|name| name.to_string()).map_err(|error| error.to_string())
}

/// A code of ISO 4217.
pub fn currency(text: &str) -> Result<String, String> {
    text.parse::<Currency>().map(|code| code.to_string()).map_err(|error| error.to_string())
}

fn named(value: &Value) -> Result<PriceBookName, Problem> {
    let text = value.get("name").text().unwrap_or_default();
    text.parse()
        .map_err(|error| Problem::at("name", "Not a name of a price book", format!("{error}")))
}

/// The whole book, as it is stored.
fn request(planned: &Value) -> Result<domain::price::PriceBook, Problem> {
    let fields = ["currency", "prices"].map(|name| (name, planned.get(name).clone()));
    serde_json::from_value(to_json(&Value::from(fields)))
        .map_err(|error| Problem::at("prices", "These are no prices", error.to_string()))
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let book = request(planned)?;
    answer(&berth.operator()?.put_price_book(&named(planned)?, &book, version).await?)
}

/// What would change a price that is in effect, of a book that is in the state.
async fn alterations(berth: &Berth, planned: &Value) -> Result<(), Problem> {
    if planned.get("created_at").text().is_none() {
        return Ok(());
    }
    let stored = berth.operator()?.price_book(&named(planned)?).await?;
    match request(planned)?.alterations(&stored.book, now()).into_iter().next() {
        None => Ok(()),
        Some((pointer, wanted)) => Err(Problem::Said {
            path: Some(path_of(&PriceBook.attributes(), &pointer)),
            summary: "Cannot plan berth_price_book".to_owned(),
            detail: format!("{pointer}: {wanted}"),
        }),
    }
}

/// An amount in micro-units.
fn amount(name: &'static str, text: &str) -> Attribute {
    Attribute::whole(name, MOST_RATE.unsigned_abs(), Given::Default(0.into()), text)
}

fn rates() -> Vec<Attribute> {
    vec![
        amount("cpu_core", "A core."),
        amount("memory_gib", "A GiB of memory."),
        amount("disk_gib", "A GiB of disk."),
        amount("thousand_iops", "1000 disk operations a second."),
        amount("port", "A port."),
    ]
}

fn discounts() -> Vec<Attribute> {
    let tolerance = vec![
        Attribute::whole("at_least_s", MOST, Given::Required, "Seconds from which it holds."),
        percent("percent", Given::Required, "Percent, 0 to 100."),
    ];
    vec![
        Attribute::list(
            "tolerance",
            Kind::Objects(tolerance),
            "By delay tolerance, ascending, up to 10; the last that fits holds.",
        ),
        percent(
            "flexible_percent",
            Given::Default(0.into()),
            "Of tasks that are `flexible`, percent, 0 to 100.",
        ),
    ]
}

fn percent(name: &'static str, given: Given, text: &str) -> Attribute {
    Attribute::whole(name, 100, given, text)
}

fn prices() -> Vec<Attribute> {
    let volume = vec![
        Attribute::whole("above", MOST, Given::Required, "Charges of a month above this."),
        percent("percent", Given::Required, "Percent, 0 to 100."),
    ];
    vec![
        Attribute::time(
            "effective_from",
            Given::Required,
            "When they begin to hold: for attempts that are placed from then on.",
        ),
        Attribute::defaults("rates", rates(), "Resources that an attempt holds, by the hour."),
        Attribute::new(
            "tiers",
            Kind::ObjectMap(rates()),
            Given::Default(Value::Map(BTreeMap::new())),
            "In place of `rates` for tasks of a tier: `basic`, `regular`, `premium`.",
        )
        .form(Form::Words(TIERS)),
        Attribute::defaults(
            "each",
            vec![
                amount("task", "A task, once, with its first attempt."),
                amount(
                    "fire",
                    "A fire of a schedule, once, with the first attempt that it led to.",
                ),
                amount("stored_gib_month", "A GiB of stored output for 30 days."),
            ],
            "By the piece.",
        ),
        Attribute::defaults(
            "discounts",
            discounts(),
            "What resources cost less for. Both apply: 20 % and 30 % make 44 %.",
        ),
        Attribute::list(
            "volume",
            Kind::Objects(volume),
            "Discounts on a month's charges, ascending, up to 10.",
        ),
    ]
}

impl Resource for PriceBook {
    fn name(&self) -> &'static str {
        "berth_price_book"
    }

    fn text(&self) -> &'static str {
        "A price book: dated prices in one currency, by which plans are billed. Amounts are whole micro-units, millionths of the currency's \
         unit. Prices that are in effect cannot change: add prices with a later `effective_from`. A price book that a plan names, or has \
         named, cannot be deleted. Needs `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("name", Given::Required, "Its name.")
                .form(Form::Parsed(name))
                .replaces(),
            Attribute::text("currency", Given::Required, "Code of ISO 4217, such as `EUR`.")
                .form(Form::Parsed(currency))
                .replaces(),
            Attribute::new(
                "prices",
                Kind::Objects(prices()),
                Given::Required,
                "What everything costs from an instant to the next, ascending, 1 to 240.",
            ),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "eur"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("name", name(id)?.as_str().into())]))
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            match put(berth, planned, NO_VERSION).await {
                Err(problem) if problem.is(ErrorCode::VersionMismatch) => {
                    alterations(berth, planned).await
                }
                checked => checked.map(drop),
            }
        })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move { existing(berth.operator()?.price_book(&named(state)?).await) })
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
            berth.operator()?.delete_price_book(&named(prior)?, version(prior)).await?;
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

    fn config(prices: &Json) -> Value {
        let config = json!({"name": "eur", "currency": "EUR", "prices": prices});
        crate::schema::fitted(&PriceBook.attributes(), from_json(&config))
    }

    #[test]
    fn a_book_goes_to_the_api_and_back_with_defaults_and_forms() {
        let config = config(&json!([{
            "effective_from": "2027-01-01T00:00:00+01:00",
            "tiers": {"basic": {"port": 7}},
        }]));
        let attributes = PriceBook.attributes();
        let plan = planned(&attributes, &Value::Null, &config);
        let sent = json!(request(&plan.value).unwrap());
        let none =
            json!({"cpu_core": 0, "memory_gib": 0, "disk_gib": 0, "thousand_iops": 0, "port": 0});
        let mut basic = none.clone();
        basic["port"] = json!(7);
        let wanted = json!({"currency": "EUR", "prices": [{
            "effective_from": "2026-12-31T23:00:00Z",
            "rates": none, "tiers": {"basic": basic}, "each": {"task": 0, "fire": 0, "stored_gib_month": 0},
            "discounts": {"tolerance": [], "flexible_percent": 0}, "volume": [],
        }]});
        assert_eq!(sent, wanted);
        let mut stored = wanted;
        stored["name"] = json!("eur");
        stored["version"] = json!(1);
        stored["created_at"] = json!("2026-12-01T00:00:00Z");
        stored["updated_at"] = stored["created_at"].clone();
        let after = state(&attributes, &plan.value, &stored);
        assert_eq!(after.get("prices"), plan.value.get("prices"));
        assert!(!planned(&attributes, &after, &config).changes);
        let imported = state(&attributes, &Value::Null, &stored);
        assert!(!planned(&attributes, &imported, &config).changes);
    }

    #[test]
    fn what_is_no_amount_tier_or_currency_is_found_where_it_is() {
        let mut config = config(&json!([{
            "effective_from": "soon",
            "rates": {"port": -1},
            "tiers": {"huge": {}},
            "discounts": {"flexible_percent": 101},
            "volume": [{"above": 0.5, "percent": 1}],
        }]));
        config.set("currency", "EURO".into());
        let prices = Path::of("prices").index(0);
        let wanted = [
            Path::of("currency"),
            prices.attribute("effective_from"),
            prices.attribute("rates").attribute("port"),
            prices.attribute("tiers").key("huge"),
            prices.attribute("discounts").attribute("flexible_percent"),
            prices.attribute("volume").index(0).attribute("above"),
        ];
        let found = check(&PriceBook.attributes(), &config);
        assert_eq!(found.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), wanted);
    }
}
