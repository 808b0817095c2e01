//! `berth quote task`.

use super::ask::{ask, raw};
use crate::customer::connection::Connection;
use crate::customer::submit::{read, time};
use crate::customer::task_arguments::{FIELDS, TaskArguments};
use crate::failure::Failure;
use client::request::{Given, QuoteAsk};
use client::{NewTask, RawJson};
use domain::time::{Timestamp, parse_duration};
use serde_json::{Value, json};
use std::time::Duration;

/// What to price.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth quote task [OPTIONS] -- COMMAND [ARGS]...\n       \
                      berth quote task [OPTIONS] --http URL\n       \
                      berth quote task [OPTIONS] --noop [DURATION]\n       \
                      berth quote task --file FILE",
    after_help = "Examples:\n  berth quote task --tier regular --execution-cap 1h --max-attempts 3 -- ./train.sh\n  \
                  berth quote task --file task.json\n  \
                  berth quote task --file tasks.ndjson            # all of them\n\n\
                  Takes what `berth submit` takes. Nothing is submitted.",
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "file"]),
    group = clap::ArgGroup::new("given").args(["command", "script", "http", "noop", "file"]).required(true).multiple(true)
)]
pub struct QuoteTaskArguments {
    /// The task.
    #[command(flatten)]
    pub task: TaskArguments,
    /// Delay from now, such as 10s.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "run_at")]
    pub delay: Option<Duration>,
    /// Due time, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_at: Option<Timestamp>,
    /// JSON file with a task or a batch, as in the API, or NDJSON file with one task per line; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = FIELDS, conflicts_with_all = ["delay", "run_at"])]
    pub file: Option<String>,
}

/// Prices a task, or those of a file.
pub async fn run(connection: &Connection, arguments: QuoteTaskArguments) -> Result<(), Failure> {
    let wanted = match &arguments.file {
        Some(file) => of_file(file, &read(file)?)?,
        None => {
            let (delay, run_at) =
                (arguments.delay.map(Given::from), arguments.run_at.map(Given::from));
            let task = NewTask { delay, run_at, ..arguments.task.into_task()? };
            QuoteAsk { task: Some(raw(&task)?), ..QuoteAsk::default() }
        }
    };
    ask(connection, wanted).await
}

/// A task, a batch, or a task a line.
fn of_file(file: &str, text: &[u8]) -> Result<QuoteAsk<RawJson>, Failure> {
    let none = QuoteAsk::default();
    let text = std::str::from_utf8(text)
        .map_err(|_| Failure::usage(format!("{file} is not UTF-8 text")))?;
    if let Some(whole) = RawJson::parse(text) {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        return Ok(if value.get("tasks").is_some() {
            QuoteAsk { batch: Some(whole), ..none }
        } else {
            QuoteAsk { task: Some(whole), ..none }
        });
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let line = |(at, line): (usize, &str)| {
        RawJson::parse(line)
            .ok_or_else(|| Failure::usage(format!("line {} of {file} is not JSON", at + 1)))
    };
    let tasks: Vec<RawJson> = lines.map(line).collect::<Result<_, _>>()?;
    Ok(QuoteAsk { batch: Some(raw(&json!({ "tasks": tasks }))?), ..none })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_task_a_batch_or_lines() {
        let of = |text: &str| {
            let asked = of_file("f", text.as_bytes()).ok()?;
            Some(serde_json::to_value(asked).unwrap())
        };
        assert_eq!(of(r#"{"run": {}}"#), Some(json!({"task": {"run": {}}})));
        let batch = json!({"batch": {"tasks": [{"name": "a"}, {"name": "b"}]}});
        assert_eq!(of(r#"{"tasks": [{"name": "a"}, {"name": "b"}]}"#), Some(batch.clone()));
        assert_eq!(of("{\"name\": \"a\"}\n\n{\"name\": \"b\"}\n"), Some(batch));
        assert_eq!(of("{\"name\": \"a\"}\nno"), None);
    }
}
