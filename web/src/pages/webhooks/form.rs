//! The fields of a webhook's form: what was entered, and the document of it.

use crate::form::Fields;
use api_types::{FieldError, Webhook, WebhookPut};
use domain::webhook::PayloadTemplate;
use serde_json::Value;
use std::collections::BTreeMap;

/// What was entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entered {
    pub name: String,
    pub url: String,
    /// A type on each line.
    pub events: String,
    pub task_name: String,
    /// `KEY=VALUE` on each line.
    pub labels: String,
    pub schedule: String,
    pub workflow: String,
    /// `NAME: VALUE` on each line.
    pub headers: String,
    pub payload: String,
    pub ordered: bool,
    pub paused: bool,
}

impl Entered {
    /// Of a form that was sent.
    pub(super) fn read(form: &Fields) -> Self {
        let text = |name| form.text(name).replace("\r\n", "\n");
        Self {
            name: text("name"),
            url: text("url"),
            events: text("events"),
            task_name: text("task_name"),
            labels: text("labels"),
            schedule: text("schedule"),
            workflow: text("workflow"),
            headers: text("headers"),
            payload: text("payload"),
            ordered: form.has("ordered"),
            paused: form.has("paused"),
        }
    }

    /// Of a stored one.
    pub(super) fn of(webhook: &Webhook) -> Self {
        let payload = webhook.payload.as_ref().and_then(|it| serde_json::to_string_pretty(it).ok());
        Self {
            name: webhook.name.to_string(),
            url: webhook.url.clone(),
            events: webhook.events.join("\n"),
            task_name: webhook.task_name.clone().unwrap_or_default(),
            labels: joined(&webhook.labels, "="),
            schedule: webhook.schedule.clone().unwrap_or_default(),
            workflow: webhook.workflow.clone().unwrap_or_default(),
            headers: joined(&webhook.headers, ": "),
            payload: payload.unwrap_or_default(),
            ordered: webhook.ordered,
            paused: webhook.paused,
        }
    }

    /// The document. Labels and headers that were not touched stay as they are stored, whatever is in them.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn document(&self, base: Option<&Webhook>) -> Result<WebhookPut, FieldError> {
        let before = base.map(|base| (base, Self::of(base)));
        let kept = |is_same: fn(&Self, &Self) -> bool| {
            before.as_ref().filter(|(_, before)| is_same(before, self)).map(|(base, _)| *base)
        };
        let labels = match kept(|before, own| before.labels.trim() == own.labels) {
            Some(base) => base.labels.clone(),
            None => pairs(&self.labels, '=', "/labels")?,
        };
        let headers = match kept(|before, own| before.headers.trim() == own.headers) {
            Some(base) => base.headers.clone(),
            None => pairs(&self.headers, ':', "/headers")?,
        };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok(WebhookPut {
            url: self.url.clone(),
            events: lines(&self.events).map(ToOwned::to_owned).collect(),
            task_name: some(&self.task_name),
            labels,
            schedule: some(&self.schedule),
            workflow: some(&self.workflow),
            headers,
            payload: some(&self.payload).map(|text| template(&text)).transpose()?,
            ordered: self.ordered,
            paused: self.paused,
            secret: None,
        })
    }
}

/// A stored webhook as the document that stores it.
pub(super) fn stored(webhook: &Webhook) -> WebhookPut {
    WebhookPut {
        url: webhook.url.clone(),
        events: webhook.events.clone(),
        task_name: webhook.task_name.clone(),
        labels: webhook.labels.clone(),
        schedule: webhook.schedule.clone(),
        workflow: webhook.workflow.clone(),
        headers: webhook.headers.clone(),
        payload: webhook.payload.clone(),
        ordered: webhook.ordered,
        paused: webhook.paused,
        secret: None,
    }
}

fn joined(pairs: &BTreeMap<String, String>, between: &str) -> String {
    let lines: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{key}{between}{value}")).collect();
    lines.join("\n")
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn pairs(text: &str, at: char, pointer: &str) -> Result<BTreeMap<String, String>, FieldError> {
    let pair = |line: &str| {
        let (key, value) = line.split_once(at).ok_or_else(|| {
            wrong(pointer, format!("must have a `{at}` on each line, unlike: {line}"))
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    };
    lines(text).map(pair).collect()
}

fn template(text: &str) -> Result<PayloadTemplate, FieldError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| wrong("/payload", format!("is not JSON: {error}")))?;
    PayloadTemplate::try_from(value).map_err(|error| wrong("/payload", error.to_string()))
}

fn wrong(pointer: &str, detail: String) -> FieldError {
    FieldError { pointer: pointer.to_owned(), detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn webhook() -> Webhook {
        serde_json::from_value(json!({
            "name": "ops", "version": 3, "url": "https://a.example/x", "events": ["berth.task.*"], "task_name": "n",
            "labels": {"a=b": "c", "team": "ml"}, "schedule": null, "workflow": "w",
            "headers": {"Authorization": "Bearer x:y"}, "payload": {"text": {"$event": "/data/name"}},
            "ordered": true, "paused": false, "disabled_at": null, "disabled_reason": null, "failures": 0,
            "failing_since": null, "old_secret_until": null, "created_at": "2030-01-31T12:00:00Z",
            "updated_at": "2030-01-31T12:00:00Z"}))
        .unwrap()
    }

    #[test]
    fn a_form_that_was_not_touched_stores_the_same() {
        let webhook = webhook();
        assert_eq!(Entered::of(&webhook).document(Some(&webhook)).unwrap(), stored(&webhook));
    }

    #[test]
    fn what_was_entered_is_read_line_by_line() {
        let form = b"url=https%3A%2F%2Fa.example&events=berth.task.failed%0D%0A%0D%0A+berth.cap.*&labels=team%3Da%3Db&headers=X-Key%3A+a%3Ab&paused=yes";
        let put = Entered::read(&Fields::parse(form)).document(None).unwrap();
        assert_eq!(put.events, ["berth.task.failed", "berth.cap.*"]);
        assert_eq!(put.labels, [("team".to_owned(), "a=b".to_owned())].into());
        assert_eq!(put.headers, [("X-Key".to_owned(), "a:b".to_owned())].into());
        assert!(put.paused && !put.ordered && put.payload.is_none() && put.task_name.is_none());
    }

    #[test]
    fn what_cannot_be_read_is_said_at_its_field() {
        let wrong =
            |form: &[u8]| Entered::read(&Fields::parse(form)).document(None).unwrap_err().pointer;
        assert_eq!(wrong(b"labels=team"), "/labels");
        assert_eq!(wrong(b"headers=X"), "/headers");
        assert_eq!(wrong(b"payload=%7B"), "/payload");
        assert_eq!(wrong(b"payload=%5B%5D"), "/payload");
    }
}
