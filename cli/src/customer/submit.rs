//! `berth submit`.
//!
//! Prints the id of the task and nothing else, so that a script can take it. When it cannot be known whether the task
//! was stored, the message holds the idempotency key with which the same command finds out. With `--follow` standard output
//! is the task's, and the id goes to standard error.

use super::connection::Connection;
use super::failure::failure;
use super::follow::follow;
use super::log_reader::Reader;
use super::task_arguments::{FIELDS, TaskArguments};
use super::warned::warned;
use super::{size, submit_file};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::request::{Dependency, Given};
use client::{ApiResponse, ClientError, IdempotencyKey, LogFilter, NewTask, Task};
use domain::dependency::{Condition, Join, ParseConditionError};
use domain::id::ParseIdError;
use domain::time::{Timestamp, parse_duration};
use serde::Serialize;
use serde_json::Value;
use std::io::Read;
use std::time::Duration;

/// What to submit.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth submit [OPTIONS] -- COMMAND [ARGS]...\n       berth submit [OPTIONS] --script FILE [-- ARGS]...\n       \
                      berth submit [OPTIONS] --http URL\n       \
                      berth submit [OPTIONS] --noop [DURATION]\n       \
                      berth submit [--idempotency-key KEY] --json FILE\n       \
                      berth submit [--idempotency-key KEY] --file FILE",
    after_help = "Examples:\n  berth submit --name hello --tier basic --delay 10s -- bash -c 'echo hi'\n  \
                  berth submit --follow -- bash -c 'echo hi'      # prints the output; exit code is the result\n  \
                  berth submit -- ./job.sh one two                # sends the local script with the task\n  \
                  sort names | berth submit --stdin - --env-file job.env -- ./job.sh\n  \
                  berth submit --http https://example.com/hook --header 'Content-Type: application/json' --data '{}'\n  \
                  berth submit --json task.json\n  \
                  berth submit --file tasks.ndjson                # one task per line; prints the ids in order",
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "json", "file"]),
    group = clap::ArgGroup::new("given").args(["command", "script", "http", "noop", "json", "file"]).required(true).multiple(true)
)]
pub struct SubmitArguments {
    /// The task.
    #[command(flatten)]
    pub task: TaskArguments,
    /// Delay from now, such as 10s.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "run_at")]
    pub delay: Option<Duration>,
    /// Due time, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_at: Option<Timestamp>,
    /// Task that must end first: its id, or ID=CONDITION with succeeded (the default), failed, expired,
    /// finished or skipped_ok.
    /// May be given several times. A delay counts from when enough of them have ended.
    #[arg(long, value_name = "ID", value_parser = parent)]
    pub after: Vec<Dependency>,
    /// How many tasks of `--after` must end as asked: all, any, or a number. If too few can, the task is skipped.
    #[arg(long, value_name = "HOW", value_parser = join, requires = "after")]
    pub join: Option<Join>,
    /// Idempotency key: repeating the command with the same key submits the task only once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// JSON file with the task, as in the API; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = FIELDS, conflicts_with_all = ["delay", "run_at", "after"])]
    pub json: Option<String>,
    /// NDJSON file, one task per line, as in the API; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = FIELDS, conflicts_with_all = ["delay", "run_at", "after", "follow"])]
    pub file: Option<String>,
    /// Follow the output until the task has finished; the exit code is its result. Ctrl-C does not stop the task.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

/// Submits a task and prints its id. It is stored durably then.
pub async fn run(connection: &Connection, arguments: SubmitArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    if let Some(file) = &arguments.file {
        return submit_file::run(connection, file, &key).await;
    }
    let follows = arguments.follow;
    let body = match &arguments.json {
        Some(file) => read(file)?,
        None => written(&task(arguments)?)?,
    };
    size::check(connection, body.len()).await?;
    let answer = connection.client.submit_json(body, key.clone()).await;
    let task = answer.map_err(|error| not_submitted(&error, &key))?;
    warned(&task.warnings);
    if follows {
        output::remark(&format!("berth: {} is submitted", task.id));
        let filter = LogFilter::default();
        return follow(connection, task.id, filter, Reader::new(&filter, false)).await;
    }
    show(connection.format, &task)
}

pub(super) fn show(format: Format, task: &ApiResponse<Task>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(task.json()),
        Format::Table => {
            if task.is_replayed() {
                output::remark("The task was already submitted with this idempotency key.");
            }
            output::line(&task.id.to_string())
        }
    }
}

/// Whether the task may have been stored all the same.
fn is_open(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. }
        | ClientError::Cut { .. }
        | ClientError::UnexpectedResponse { .. } => true,
        ClientError::Api(problem) => problem.status >= 500,
        ClientError::Settings(_) => false,
    }
}

pub(super) fn not_submitted(error: &ClientError, key: &IdempotencyKey) -> Failure {
    not_stored("The task", error, key)
}

/// What a failed write means: `what` may have been stored all the same.
pub(super) fn not_stored(what: &str, error: &ClientError, key: &IdempotencyKey) -> Failure {
    let failure = failure(error);
    if !is_open(error) {
        return failure;
    }
    failure.adding(&format!("\n{what} may have been stored. To retry safely, repeat the command with --idempotency-key {key}"))
}

fn task(arguments: SubmitArguments) -> Result<NewTask, Failure> {
    let (delay, run_at) = (arguments.delay.map(Given::from), arguments.run_at.map(Given::from));
    let after = arguments.after.into_iter().map(Given::from).collect::<Vec<_>>();
    let (depends_on, join) = ((!after.is_empty()).then_some(after), arguments.join);
    Ok(NewTask { delay, run_at, depends_on, join, ..arguments.task.into_task()? })
}

fn parent(text: &str) -> Result<Dependency, String> {
    let (id, on) = text.split_once('=').unwrap_or((text, "succeeded"));
    let id = id
        .parse()
        .map_err(|error: ParseIdError| format!("`{id}` is not the id of a task: {error}"))?;
    let on: Condition = on.parse().map_err(|error: ParseConditionError| error.to_string())?;
    Ok(Dependency { on, ..Dependency::new(id) })
}

fn join(text: &str) -> Result<Join, String> {
    match (text, text.parse()) {
        ("all", _) => Ok(Join::All),
        ("any", _) => Ok(Join::Any),
        (_, Ok(wanted)) if wanted > 0 => Ok(Join::AtLeast(wanted)),
        _ => Err("expected all, any or a number from 1".to_owned()),
    }
}

/// JSON as it is typed.
pub(super) fn parsed_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("expected JSON, with texts in quotes: {error}"))
}

/// A body of a request.
pub(super) fn written(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value)
        .map_err(|error| Failure::failed(format!("cannot write the request: {error}")))
}

pub(super) fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().read_to_end(&mut text).map(|_| ()),
        path => std::fs::read(path).map(|bytes| text = bytes),
    };
    read.map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    Ok(text)
}

/// A time as the API takes it.
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    let time = chrono::DateTime::parse_from_rfc3339(text);
    time.map(|time| time.to_utc())
        .map_err(|_| "expected a time such as 2030-01-31T12:00:00Z".to_owned())
}
