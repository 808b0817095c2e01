//! `berth submit`.
//!
//! Prints the id of the task and nothing else, so that a script can take it. When it cannot be known whether the task
//! was stored, the message holds the idempotency key with which the same command finds out. With `--follow` standard output
//! is the task's, and the id goes to standard error.

use super::connection::Connection;
use super::failure::failure;
use super::follow::follow;
use super::submit_file;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{Answer, ClientError, IdempotencyKey, LogFilter, NewTask, Task};
use domain::batch::{ConcurrencyKey, Priority};
use domain::resources::Tier;
use domain::task::{
    CommandRun, Delivery, HttpMethod, HttpRun, NoopRun, Run, SuccessRule, check_header,
};
use domain::time::{Timestamp, parse_duration};
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

/// What to submit.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth submit [OPTIONS] -- COMMAND [ARGS]...\n       berth submit [OPTIONS] --http URL\n       \
                      berth submit [OPTIONS] --noop [DURATION]\n       \
                      berth submit [--idempotency-key KEY] --json FILE\n       \
                      berth submit [--idempotency-key KEY] --file FILE",
    after_help = "Examples:\n  berth submit --name hello --tier basic --delay 10s -- bash -c 'echo hi'\n  \
                  berth submit --follow -- bash -c 'echo hi'      # its output, and its end as exit code\n  \
                  berth submit --http https://example.com/hook --header 'Content-Type: application/json' --data '{}'\n  \
                  berth submit --json task.json\n  \
                  berth submit --file tasks.ndjson                # a task a line; ids in order",
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "json", "file"]).required(true)
)]
pub struct SubmitArguments {
    /// What to call it; need not be unique.
    #[arg(long)]
    pub name: Option<String>,
    /// What it needs: basic, regular or premium.
    #[arg(long)]
    pub tier: Option<Tier>,
    /// How long from now it becomes due, such as 10s.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "run_at")]
    pub delay: Option<Duration>,
    /// When it becomes due, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_at: Option<Timestamp>,
    /// How long after it became due it may start and still be on time.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub delay_tolerance: Option<Duration>,
    /// The longest one attempt may run; then it is killed.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub execution_cap: Option<Duration>,
    /// Let it expire when it could not start in time.
    #[arg(long)]
    pub expire_if_late: bool,
    /// From -10 to 10: it goes before others of yours as if it had to start that many minutes earlier, or later.
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub priority: Option<Priority>,
    /// Run only where room is spare, until its tolerance is nearly used up; `--flexible false` where the plan says otherwise.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub flexible: Option<bool>,
    /// Of your tasks with this key one runs at a time, or as many as `berth concurrency set` says.
    #[arg(long, value_name = "KEY")]
    pub concurrency_key: Option<ConcurrencyKey>,
    /// Attempts that count, at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_attempts: Option<u32>,
    /// What a lost attempt means: at_least_once runs it again, at_most_once does not.
    #[arg(long)]
    pub delivery: Option<Delivery>,
    /// Group of executors to run on.
    #[arg(long)]
    pub pool: Option<String>,
    /// Unique among your tasks that have not ended; a conflict answers with the one that exists.
    #[arg(long, value_name = "KEY")]
    pub unique_key: Option<String>,
    /// A label to find it by; may be repeated.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// A variable of the command's environment; may be repeated. Nothing else is inherited.
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// What the command reads on its standard input.
    #[arg(long, value_name = "TEXT")]
    pub stdin: Option<String>,
    /// Makes repeating this command safe: the same key submits the same task once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Submit the task in this file as the API takes it; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "name", "tier", "delay", "run_at", "delay_tolerance", "execution_cap", "expire_if_late", "priority", "flexible",
        "concurrency_key", "max_attempts",
        "delivery", "pool", "unique_key", "labels", "env", "stdin", "method", "headers", "data", "success",
    ])]
    pub json: Option<String>,
    /// Call this URL. The task's exit code is the status of the answer, its output the answer's body.
    #[arg(long, value_name = "URL", conflicts_with_all = ["env", "stdin"])]
    pub http: Option<String>,
    /// How the URL is called; POST with --data, else GET.
    #[arg(long, value_name = "METHOD", requires = "http")]
    pub method: Option<HttpMethod>,
    /// A header of the call; may be repeated.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header, requires = "http")]
    pub headers: Vec<(String, String)>,
    /// The body of the call.
    #[arg(long, value_name = "TEXT", requires = "http")]
    pub data: Option<String>,
    /// Which statuses are a success, such as 2xx or 200,204; 2xx when left out. A redirect in it is not followed.
    #[arg(long, value_name = "STATUSES", requires = "http")]
    pub success: Option<SuccessRule>,
    /// Submit each line of this file as a task, as the API takes it; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "name", "tier", "delay", "run_at", "delay_tolerance", "execution_cap", "expire_if_late", "priority", "flexible",
        "concurrency_key", "max_attempts",
        "delivery", "pool", "unique_key", "labels", "env", "stdin", "follow", "method", "headers", "data", "success",
    ])]
    pub file: Option<String>,
    /// Wait for it: write its output as it comes; its end is the exit code. Ctrl-C ends the waiting, not the task.
    #[arg(long, short = 'f')]
    pub follow: bool,
    /// Do nothing, for a while: to measure and to try things out.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, num_args = 0..=1, default_missing_value = "0s",
        conflicts_with_all = ["env", "stdin"])]
    pub noop: Option<Duration>,
    /// Program and arguments; no shell is involved unless it is the program.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Submits a task and prints its id. It is stored durably then.
pub async fn run(connection: &Connection, arguments: SubmitArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    if let Some(file) = &arguments.file {
        return submit_file::run(connection, file, &key).await;
    }
    let follows = arguments.follow;
    let answer = match &arguments.json {
        Some(file) => connection.client.submit_json(read(file)?, key.clone()).await,
        None => connection.client.submit_with_key(&task(arguments), key.clone()).await,
    };
    let task = answer.map_err(|error| not_submitted(&error, &key))?;
    if follows {
        output::remark(&format!("berth: {} is submitted", task.id));
        return follow(connection, task.id, LogFilter::default()).await;
    }
    show(connection.format, &task)
}

fn show(format: Format, task: &Answer<Task>) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(task.json()),
        Format::Table => {
            if task.is_replayed() {
                output::remark(
                    "It was submitted before under this idempotency key; this is that task.",
                );
            }
            output::line(&task.id.to_string())
        }
    }
}

/// Whether the task may have been stored all the same.
fn is_open(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } | ClientError::Cut { .. } | ClientError::Answer { .. } => {
            true
        }
        ClientError::Api(problem) => problem.status >= 500,
        ClientError::Settings(_) => false,
    }
}

fn not_submitted(error: &ClientError, key: &IdempotencyKey) -> Failure {
    let failure = failure(error);
    if !is_open(error) {
        return failure;
    }
    failure.adding(&format!("\nIt may have been stored or not. To go on safely, repeat the command with --idempotency-key {key}"))
}

fn task(arguments: SubmitArguments) -> NewTask {
    let usual = if arguments.data.is_some() { HttpMethod::Post } else { HttpMethod::Get };
    let run = match (arguments.http, arguments.noop) {
        (Some(url), _) => Run::Http(HttpRun {
            method: arguments.method.unwrap_or(usual),
            url,
            headers: arguments.headers.into_iter().collect(),
            body: arguments.data,
            body_base64: None,
            success: arguments.success.unwrap_or_default(),
            timeout: None,
        }),
        (None, Some(sleep)) => Run::Noop(NoopRun { sleep }),
        (None, None) => Run::Command(CommandRun {
            argv: arguments.command,
            env: arguments.env.into_iter().collect(),
            stdin: arguments.stdin,
        }),
    };
    NewTask {
        name: arguments.name,
        tier: arguments.tier,
        delay: arguments.delay,
        run_at: arguments.run_at,
        delay_tolerance: arguments.delay_tolerance,
        execution_cap: arguments.execution_cap,
        expire_if_late: arguments.expire_if_late.then_some(true),
        priority: arguments.priority,
        flexible: arguments.flexible,
        concurrency_key: arguments.concurrency_key.map(|key| key.to_string()),
        max_attempts: arguments.max_attempts,
        delivery: arguments.delivery,
        pool: arguments.pool,
        unique_key: arguments.unique_key,
        labels: BTreeMap::from_iter(arguments.labels),
        ..NewTask::new(run)
    }
}

fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().read_to_end(&mut text).map(|_| ()),
        path => std::fs::read(path).map(|bytes| text = bytes),
    };
    read.map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    Ok(text)
}

/// `KEY=VALUE`; the value may hold further `=`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// `NAME: VALUE`, as curl takes it.
fn header(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err("expected NAME: VALUE".to_owned());
    };
    let (name, value) = (name.trim(), value.trim());
    check_header(name, value).map_err(|problem| problem.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

fn time(text: &str) -> Result<Timestamp, String> {
    let time = chrono::DateTime::parse_from_rfc3339(text);
    time.map(|time| time.to_utc())
        .map_err(|_| "expected a time such as 2030-01-31T12:00:00Z".to_owned())
}
