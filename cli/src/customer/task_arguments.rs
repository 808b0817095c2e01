//! What a task is, as flags: of `berth submit`, and of `berth schedule put` and `edit`, whose fires make such tasks.

use super::{env_file, input, script};
use crate::failure::Failure;
use client::NewTask;
use client::request::{CommandRun, Given, HttpRun, NoopRun, Pairs, Retry, Run};
use domain::batch::{ConcurrencyKey, Priority};
use domain::id::PoolName;
use domain::resources::Tier;
use domain::task::{CompleteOn, Delivery, HttpMethod, RetryOn, SuccessRule, check_header};
use domain::time::parse_duration;
use std::time::Duration;

/// Every flag but those that say what runs: they do not go together with a file.
pub const FIELDS: [&str; 23] = [
    "name",
    "tier",
    "delay_tolerance",
    "execution_cap",
    "expire_if_late",
    "priority",
    "flexible",
    "concurrency_key",
    "max_attempts",
    "retry_on",
    "delivery",
    "pool",
    "unique_key",
    "labels",
    "env",
    "env_file",
    "stdin",
    "script",
    "method",
    "headers",
    "data",
    "success",
    "complete",
];

/// A task.
#[derive(Debug, clap::Args)]
pub struct TaskArguments {
    /// Name of the task; need not be unique.
    #[arg(long)]
    pub name: Option<String>,
    /// Tier: basic (0.25 cores, 512 MiB; default), regular (1 core, 2 GiB) or premium (4 cores, 8 GiB).
    #[arg(long)]
    pub tier: Option<Tier>,
    /// How long after its due time the task may start. Default: 5m, or as the server is configured.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub delay_tolerance: Option<Duration>,
    /// Longest run time of one attempt; then it is killed. Default: 1m, or as the server is configured.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub execution_cap: Option<Duration>,
    /// Expire if not started within the delay tolerance.
    #[arg(long)]
    pub expire_if_late: bool,
    /// Priority among your tasks, -10 to 10: shifts the start deadline by this many minutes. Default: 0.
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub priority: Option<Priority>,
    /// Run only in spare room until the tolerance is nearly used up; `--flexible false` overrides the plan.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub flexible: Option<bool>,
    /// Concurrency key: one of your tasks with it runs at a time, or as many as `berth concurrency set` allows.
    #[arg(long, value_name = "KEY")]
    pub concurrency_key: Option<ConcurrencyKey>,
    /// Most charged attempts. Default: 1, or as the server is configured. Back-off grows from 1s to 5m.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_attempts: Option<u32>,
    /// Results to retry, comma-separated: failure (default), cap (killed over its cap), resources.
    #[arg(long, value_name = "ENDS", value_delimiter = ',')]
    pub retry_on: Vec<RetryOn>,
    /// After a lost attempt: at_least_once (default) runs the task again, at_most_once does not.
    #[arg(long)]
    pub delivery: Option<Delivery>,
    /// Pool of executors. Default: default.
    #[arg(long)]
    pub pool: Option<PoolName>,
    /// Key that is unique among your unfinished tasks; a conflict returns the existing task.
    #[arg(long, value_name = "KEY")]
    pub unique_key: Option<String>,
    /// Label; repeatable.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// Environment variable of the command; repeatable. Nothing else is inherited.
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// File of environment variables, KEY=VALUE per line, in docker's format; repeatable. --env overrides it.
    #[arg(long, value_name = "FILE")]
    pub env_file: Vec<String>,
    /// Standard input of the command: a text, @FILE, or - for this command's standard input.
    #[arg(long, value_name = "TEXT|@FILE|-")]
    pub stdin: Option<String>,
    /// Send this local script and run it with the interpreter of its `#!` line; arguments follow --. A command that starts
    /// with ./ or ../ is sent as well.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["http", "noop"])]
    pub script: Option<String>,
    /// Call this URL. Exit code and output are the status and body of the response.
    #[arg(long, value_name = "URL", conflicts_with_all = ["env", "env_file", "stdin"])]
    pub http: Option<String>,
    /// HTTP method. Default: POST with --data, else GET.
    #[arg(long, value_name = "METHOD", requires = "http")]
    pub method: Option<HttpMethod>,
    /// Request header; repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header, requires = "http")]
    pub headers: Vec<(String, String)>,
    /// Request body.
    #[arg(long, value_name = "TEXT", requires = "http")]
    pub data: Option<String>,
    /// Statuses of success, such as 2xx or 200,204. Default: 2xx. A listed redirect is not followed.
    #[arg(long, value_name = "STATUSES", requires = "http")]
    pub success: Option<SuccessRule>,
    /// When the task is over: with its answer (default), or with a callback: a success only says that the call was taken on, and
    /// `berth complete` ends the task, at the latest its execution cap.
    #[arg(long, value_name = "answer|callback", requires = "http")]
    pub complete: Option<CompleteOn>,
    /// Do nothing for this long, for tests and benchmarks.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, num_args = 0..=1, default_missing_value = "0s",
        conflicts_with_all = ["env", "env_file", "stdin"])]
    pub noop: Option<Duration>,
    /// Program and arguments, without a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl TaskArguments {
    /// The task with what the flags name: what they do not name has the server's defaults, or stays in a change. Reads the
    /// files that they name.
    pub fn into_task(self) -> Result<NewTask, Failure> {
        let mut env = env_file::read(&self.env_file)?;
        env.extend(self.env);
        let has_argv = !self.command.is_empty() || self.script.is_some();
        let argv = has_argv.then(|| script::sent(self.command, self.script.as_deref()));
        let command = CommandRun {
            argv: argv.transpose()?,
            env: Pairs::some(env),
            stdin: self.stdin.as_deref().map(input::text).transpose()?,
        };
        let http = HttpRun {
            method: self.method.map(Given::from),
            url: self.http,
            headers: Pairs::some(self.headers.into_iter().collect()),
            body: self.data,
            success: self.success.map(Given::from),
            complete: self.complete.map(Given::from),
            ..HttpRun::default()
        };
        let noop = self.noop.map(|sleep| NoopRun { sleep: Some(sleep.into()) });
        let on = (!self.retry_on.is_empty()).then_some(self.retry_on);
        Ok(NewTask {
            name: self.name,
            tier: self.tier,
            run: named(Run { command: named(command), http: named(http), noop }),
            delay_tolerance: self.delay_tolerance.map(Given::from),
            execution_cap: self.execution_cap.map(Given::from),
            expire_if_late: self.expire_if_late.then_some(true),
            priority: self.priority.map(Given::from),
            flexible: self.flexible,
            concurrency_key: self.concurrency_key.map(Given::from),
            max_attempts: self.max_attempts,
            retry: named(Retry { on, ..Retry::default() }),
            delivery: self.delivery,
            pool: self.pool.map(Given::from),
            unique_key: self.unique_key,
            labels: Pairs::some(self.labels.into_iter().collect()),
            ..NewTask::default()
        })
    }
}

/// An object of which a flag names something.
fn named<T: Default + PartialEq>(object: T) -> Option<T> {
    (object != T::default()).then_some(object)
}

/// `KEY=VALUE`; the value may hold further `=`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// `NAME: VALUE`, as curl takes it.
pub fn header(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err("expected NAME: VALUE".to_owned());
    };
    let (name, value) = (name.trim(), value.trim());
    check_header(name, value).map_err(|problem| problem.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};
    use domain::task::RetryPolicy;
    use domain::time::format_duration;
    use serde_json::{Value, json};

    /// The task's flags alone, as `berth submit` and `berth schedule put` have them.
    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        task: TaskArguments,
    }

    /// What `--help` says of a flag.
    fn help(flag: &str) -> String {
        let alone = Alone::command();
        let argument = alone.get_arguments().find(|argument| argument.get_id() == flag);
        argument.unwrap().get_help().unwrap().to_string()
    }

    #[test]
    fn help_openapi_and_settings_agree_on_what_is_left_out() {
        let limits = runtime::config::load_from(None, []).unwrap().limits;
        let document = serde_json::to_value(api::description::document(&limits)).unwrap();
        let of = |schema: &str, field: &str| {
            document["components"]["schemas"][schema]["properties"][field]["default"].clone()
        };
        let (tolerance, cap) = (
            format_duration(limits.default_delay_tolerance),
            format_duration(limits.default_execution_cap),
        );
        let attempts = limits.default_max_attempts.to_string();
        let retry = RetryPolicy::default();
        let waits = format!(
            "grows from {} to {}",
            format_duration(retry.initial),
            format_duration(retry.max)
        );
        let set = |value: &str| format!("Default: {value}, or as the server is configured");
        for (flag, default, said) in [
            ("delay_tolerance", Value::from(tolerance.as_str()), set(&tolerance)),
            ("execution_cap", Value::from(cap.as_str()), set(&cap)),
            ("max_attempts", limits.default_max_attempts.into(), set(&attempts)),
            ("max_attempts", limits.default_max_attempts.into(), waits),
            ("tier", Value::Null, "MiB; default)".to_owned()),
            ("priority", 0.into(), "Default: 0".to_owned()),
            ("delivery", "at_least_once".into(), "at_least_once (default)".to_owned()),
            ("pool", "default".into(), "Default: default".to_owned()),
        ] {
            assert_eq!(of("TaskSubmit", flag), default, "{flag}");
            assert!(help(flag).contains(&said), "{flag}: {}", help(flag));
        }
        assert_eq!(of("Retry", "on"), json!(RetryOn::usual()));
        assert_eq!(of("Retry", "initial"), format_duration(retry.initial));
        assert_eq!(of("Retry", "max"), format_duration(retry.max));
        assert!(help("retry_on").contains("failure (default)"));
        for tier in Tier::ALL {
            let size = tier.resources();
            let cores = f64::from(size.cpu_millis) / 1000.0;
            let memory = match size.memory_mib {
                mib if mib % 1024 == 0 => format!("{} GiB", mib / 1024),
                mib => format!("{mib} MiB"),
            };
            let said =
                format!("{tier} ({cores} core{}, {memory}", if cores == 1.0 { "" } else { "s" });
            assert!(help("tier").contains(&said), "{said}");
        }
    }

    #[test]
    fn only_what_is_named_is_sent() {
        let sent = |flags: &[&str]| {
            let typed = Alone::try_parse_from(["berth"].iter().chain(flags)).ok()?;
            Some(serde_json::to_value(typed.task.into_task().ok()?).unwrap())
        };
        for (flags, task) in [
            (&[][..], json!({})),
            (&["--noop"], json!({"run": {"noop": {"sleep": "0s"}}})),
            (&["--", "a", "b"], json!({"run": {"command": {"argv": ["a", "b"]}}})),
            (&["--env", "A=1", "--env", "A=2"], json!({"run": {"command": {"env": {"A": "2"}}}})),
            (&["--http", "http://a/"], json!({"run": {"http": {"url": "http://a/"}}})),
            (&["--retry-on", "cap,failure"], json!({"retry": {"on": ["cap", "failure"]}})),
            (&["--label", "a=1", "--pool", "eu"], json!({"labels": {"a": "1"}, "pool": "eu"})),
        ] {
            assert_eq!(sent(flags), Some(task), "{flags:?}");
        }
        assert_eq!(sent(&["--retry-on", "timeout"]), None);
    }
}
