//! `berth webhook set`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::submit::read;
use super::super::task_arguments::{header, pair};
use super::show::{tell, tell_secret};
use crate::customer::json_file;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::WebhookPut;
use domain::id::WebhookName;
use domain::webhook::PayloadTemplate;
use serde_json::Value;

/// A webhook to store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth webhook set ops --url https://hooks.example.com/berth\n  \
                  berth webhook set ml --url https://hooks.example.com/ml --event berth.task.failed --event 'berth.schedule.*' --label team=ml\n  \
                  berth webhook set chat --url https://chat.example.com/in --event berth.task.failed --payload chat.json\n\n\
                  A webhook that is there is replaced: what is not given is as in a new one. Only its secret stays."
)]
pub struct SetArguments {
    /// Name: 1 to 63 of a-z, 0-9 and -.
    pub name: WebhookName,
    /// Where deliveries go: http or https.
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// Type of events, or the beginning of types with `*` at its end; comma-separated or repeated. Default: all.
    #[arg(long = "event", value_name = "TYPE", value_delimiter = ',')]
    pub events: Vec<String>,
    /// Only of tasks of exactly this name.
    #[arg(long, value_name = "NAME")]
    pub task_name: Option<String>,
    /// Only of tasks with this label; repeatable, all must match.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// Only of this schedule, and of tasks that it made.
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,
    /// Only of tasks of runs of this workflow.
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// Header of each request; repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// File with what is sent in place of the event: a JSON or YAML object in which {"$event": "/data/name"} stands for a value of the
    /// event. - is standard input.
    #[arg(long, value_name = "FILE|-")]
    pub payload: Option<String>,
    /// Send an event only after those before it of the same subject were received.
    #[arg(long)]
    pub ordered: bool,
    /// Send nothing for now.
    #[arg(long)]
    pub pause: bool,
    /// File with the secret: whsec_ and the base64 of 24 to 64 bytes. Default: a new webhook gets a random one, another keeps its own.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<String>,
    /// Only if the webhook has this version; 0: only if it is new.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(0..))]
    pub if_version: Option<i64>,
}

impl SetArguments {
    fn body(&self) -> Result<WebhookPut, Failure> {
        Ok(WebhookPut {
            url: self.url.clone(),
            events: self.events.clone(),
            task_name: self.task_name.clone(),
            labels: self.labels.iter().cloned().collect(),
            schedule: self.schedule.clone(),
            workflow: self.workflow.clone(),
            headers: self.headers.iter().cloned().collect(),
            payload: self.payload.as_deref().map(template).transpose()?,
            ordered: self.ordered,
            paused: self.pause,
            secret: self.secret_file.as_deref().map(secret).transpose()?,
        })
    }
}

fn template(file: &str) -> Result<PayloadTemplate, Failure> {
    let json = serde_json::to_value(json_file(file)?);
    let json: Value = json.map_err(|error| Failure::usage(format!("{file}: {error}")))?;
    PayloadTemplate::try_from(json).map_err(|wrong| Failure::usage(format!("--payload {wrong}")))
}

/// The secret that a file holds, in its only line.
pub(super) fn secret(file: &str) -> Result<String, Failure> {
    let text = String::from_utf8(read(file)?)
        .map_err(|_| Failure::usage("the file of the secret is not UTF-8 text"))?;
    Ok(text.trim().to_owned())
}

/// Stores a webhook. The secret of a new one is printed once, unless it was given.
pub async fn run(connection: &Connection, arguments: &SetArguments) -> Result<(), Failure> {
    let (name, body) = (&arguments.name, arguments.body()?);
    let stored = connection.client.put_webhook(name, &body, arguments.if_version).await;
    let stored = stored.map_err(|error| failure(&error))?;
    match (&stored.secret, connection.format) {
        (_, Format::Json) => output::document(stored.json()),
        (Some(secret), Format::Table) if body.secret.is_none() => {
            tell_secret(&format!("Webhook `{name}` is stored."), secret)
        }
        _ => tell(connection, Ok(stored)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::json;

    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        set: SetArguments,
    }

    fn typed(more: &[&str]) -> SetArguments {
        let line = ["x", "ops", "--url", "https://a.example"];
        Alone::parse_from(line.iter().chain(more)).set
    }

    #[test]
    fn what_is_typed_becomes_the_body() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "text: {$event: /data/name}\n").unwrap();
        let secret = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(secret.path(), "whsec_abc\n").unwrap();
        let (file, secret) = (file.path().to_str().unwrap(), secret.path().to_str().unwrap());
        let typed = typed(&[
            "--event",
            "berth.task.failed,berth.cap.*",
            "--event",
            "berth.quota.*",
            "--label",
            "team=a=b",
            "--header",
            "X-Key: a:b",
            "--task-name",
            "nightly",
            "--payload",
            file,
            "--ordered",
            "--pause",
            "--secret-file",
            secret,
        ]);
        let body = serde_json::to_value(typed.body().unwrap()).unwrap();
        let wanted = json!({"url": "https://a.example", "events": ["berth.task.failed", "berth.cap.*", "berth.quota.*"],
            "labels": {"team": "a=b"}, "headers": {"X-Key": "a:b"}, "task_name": "nightly",
            "payload": {"text": {"$event": "/data/name"}}, "ordered": true, "paused": true, "secret": "whsec_abc"});
        assert_eq!(body, wanted);
    }

    #[test]
    fn a_payload_that_is_no_template_is_said_before_anything_is_sent() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[1]").unwrap();
        let failed = typed(&["--payload", file.path().to_str().unwrap()]).body().unwrap_err();
        assert_eq!(failed.to_string(), "--payload must be a JSON object");
        assert!(typed(&["--secret-file", "/none/of/this"]).body().is_err());
    }
}
