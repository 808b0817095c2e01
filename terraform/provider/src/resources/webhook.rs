//! `berth_webhook`. Its secret is in no state; `berth_new_secret` gives it in the apply that made it.

use super::{NO_VERSION, answer, existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, to_json};
use api_types::WebhookPut;
use domain::id::WebhookName;
use domain::webhook::PayloadTemplate;
use serde_json::{Value as Json, json};

/// A webhook.
pub struct Webhook;

const FIELDS: [&str; 9] = [
    "url",
    "events",
    "task_name",
    "labels",
    "schedule",
    "workflow",
    "headers",
    "ordered",
    "paused",
];

fn name(text: &str) -> Result<String, String> {
    text.parse::<WebhookName>().map(|name| name.to_string()).map_err(|error| error.to_string())
}

fn named(value: &Value) -> Result<WebhookName, Problem> {
    let text = value.get("name").text().unwrap_or_default();
    text.parse().map_err(|error| Problem::at("name", "Not a name of a webhook", format!("{error}")))
}

fn request(planned: &Value) -> Result<WebhookPut, Problem> {
    let fields = FIELDS.map(|name| (name, planned.get(name).clone()));
    let mut body = to_json(&Value::from(fields));
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| !value.is_null());
    }
    let mut put: WebhookPut = serde_json::from_value(body)
        .map_err(|error| Problem::at("url", "This is no webhook", error.to_string()))?;
    if let Some(text) = planned.get("payload").text() {
        let wrong = |detail: String| Problem::at("payload", "Not a payload", detail);
        let payload: Json = text.parse().map_err(|_| wrong("It must be JSON.".to_owned()))?;
        let payload =
            PayloadTemplate::try_from(payload).map_err(|error| wrong(error.to_string()))?;
        put.payload = Some(payload);
    }
    Ok(put)
}

/// The API's webhook as attributes: without its secret, and with the id under which that is kept.
fn attributes_of(mut webhook: Json) -> Json {
    if !webhook["payload"].is_null() {
        webhook["payload"] = webhook["payload"].to_string().into();
    }
    webhook["id"] = json!(id(webhook["name"].as_str().unwrap_or_default()));
    if let Some(webhook) = webhook.as_object_mut() {
        webhook.remove("secret");
    }
    webhook
}

fn id(name: &str) -> String {
    format!("webhook/{name}")
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let (name, webhook) = (named(planned)?, request(planned)?);
    let stored = berth.tenant()?.put_webhook(&name, &webhook, version).await?;
    berth.keep(&id(name.as_str()), stored.secret.clone().map(Into::into));
    answer(&stored).map(attributes_of)
}

impl Resource for Webhook {
    fn name(&self) -> &'static str {
        "berth_webhook"
    }

    fn text(&self) -> &'static str {
        "A webhook of a tenant: which events are sent where, signed as Standard Webhooks say. A new one gets a random secret, which is in no \
         state and no plan: the ephemeral resource `berth_new_secret` gives it in the apply that made it, for a store of secrets. \
         `berth webhook rotate` replaces it. How a webhook does, and what was sent, is not in the state: `berth webhook list` shows it. \
         Needs `api_key` with the scope `admin`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("name", Given::Required, "Its name.")
                .form(Form::Parsed(name))
                .replaces(),
            Attribute::text(
                "url",
                Given::Required,
                "Where deliveries go: http or https. Private addresses are refused unless the operator allows them.",
            ),
            Attribute::list(
                "events",
                Kind::TextSet,
                "Types of events, such as `berth.task.failed` or `berth.task.*`. Default: all.",
            ),
            Attribute::text("task_name", Given::Optional, "Only of tasks of exactly this name."),
            Attribute::map("labels", "Only of tasks with all these labels."),
            Attribute::text(
                "schedule",
                Given::Optional,
                "Only of the schedule of this name, and of tasks that it made.",
            ),
            Attribute::text(
                "workflow",
                Given::Optional,
                "Only of tasks of runs of the workflow of this name.",
            ),
            Attribute::map("headers", "Headers of each request.").sensitive(),
            Attribute::text(
                "payload",
                Given::Optional,
                "What is sent in place of the event, as JSON, from `jsonencode`: an object in which `{\"$event\": \"/data/name\"}` stands for the \
                 value at that JSON pointer.",
            )
            .form(Form::Json),
            Attribute::switch(
                "ordered",
                Given::Default(false.into()),
                "Whether an event is sent only after those before it of the same subject were received.",
            ),
            Attribute::switch(
                "paused",
                Given::Default(false.into()),
                "Whether nothing is sent for now. What happens meanwhile is sent afterwards, up to three days back.",
            ),
            Attribute::text("id", Given::Fixed, "What `berth_new_secret` is asked for."),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "ops"
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
            let webhook = existing(berth.tenant()?.webhook(&named(state)?).await)?;
            Ok(webhook.map(attributes_of))
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
            berth.tenant()?.delete_webhook(&named(prior)?, version(prior)).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{check, planned, state};
    use crate::value::{Path, from_json};

    fn config(payload: &str) -> Value {
        let config = json!({
            "name": "ops", "url": "https://a.example", "events": ["berth.task.failed"], "labels": {"team": "ml"},
            "payload": payload,
        });
        crate::schema::fitted(&Webhook.attributes(), from_json(&config))
    }

    #[test]
    fn what_is_stored_is_what_was_planned_and_has_no_secret() {
        let attributes = Webhook.attributes();
        let planned_first =
            planned(&attributes, &Value::Null, &config(r#"{"text": {"$event": "/data/name"}}"#));
        let sent = json!(request(&planned_first.value).unwrap());
        let wanted = json!({
            "url": "https://a.example", "events": ["berth.task.failed"], "labels": {"team": "ml"},
            "payload": {"text": {"$event": "/data/name"}}, "ordered": false, "paused": false,
        });
        assert_eq!(sent, wanted);
        let mut stored = wanted;
        for (name, value) in [
            ("name", json!("ops")),
            ("version", json!(1)),
            ("headers", json!({})),
            ("secret", json!("whsec_x")),
            ("failures", json!(3)),
        ] {
            stored[name] = value;
        }
        let stored = attributes_of(stored);
        assert!(!stored.to_string().contains("whsec_"), "{stored}");
        assert_eq!(stored["id"], "webhook/ops");
        let after = state(&attributes, &planned_first.value, &stored);
        let same = config(r#"{ "text":{"$event":"/data/name"} }"#);
        assert!(!planned(&attributes, &after, &same).changes);
        let other = planned(&attributes, &after, &config(r#"{"text": "no"}"#));
        assert!(other.changes && other.replaces.is_empty(), "{other:?}");
        let mut renamed = same;
        renamed.set("name", "dev".into());
        assert_eq!(planned(&attributes, &after, &renamed).replaces, [Path::of("name")]);
    }

    #[test]
    fn what_is_no_name_or_payload_is_found_where_it_is() {
        let mut wrong = config("{");
        wrong.set("name", "No Name".into());
        let found = check(&Webhook.attributes(), &wrong);
        let places = found.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(places, ["name", "payload"].map(Path::of));
        let list = planned(&Webhook.attributes(), &Value::Null, &config("[1]"));
        assert!(request(&list.value).is_err());
    }
}
