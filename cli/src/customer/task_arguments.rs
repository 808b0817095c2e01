//! What a task is, as flags: of `berth submit`, and of `berth schedule put`, whose fires make such tasks.

use super::{env_file, input, script};
use crate::failure::Failure;
use client::NewTask;
use domain::batch::{ConcurrencyKey, Priority};
use domain::resources::Tier;
use domain::task::{
    CommandRun, Delivery, HttpMethod, HttpRun, NoopRun, RetryOn, RetryPolicy, Run, SuccessRule,
    check_header,
};
use domain::time::parse_duration;
use std::collections::BTreeMap;
use std::time::Duration;

/// Every flag but those that say what runs: they do not go together with a file.
pub const FIELDS: [&str; 22] = [
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
];

/// A task.
#[derive(Debug, clap::Args)]
pub struct TaskArguments {
    /// What to call the task; need not be unique.
    #[arg(long)]
    pub name: Option<String>,
    /// What it needs: basic (0.25 cores, 512 MiB; the default), regular (1 core, 2 GiB) or premium (4 cores, 8 GiB).
    #[arg(long)]
    pub tier: Option<Tier>,
    /// How long after it became due it may start and still be on time; 5m when left out, unless the server is set otherwise.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub delay_tolerance: Option<Duration>,
    /// The longest one attempt may run; then it is killed. 1m when left out, unless the server is set otherwise.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub execution_cap: Option<Duration>,
    /// Let it expire when it could not start in time, which its delay tolerance says.
    #[arg(long)]
    pub expire_if_late: bool,
    /// From -10 to 10, 0 when left out: it goes before others of yours as if it had to start that many minutes earlier, or later.
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub priority: Option<Priority>,
    /// Run only where room is spare, until its tolerance is nearly used up; `--flexible false` where the plan says otherwise.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub flexible: Option<bool>,
    /// Of your tasks with this key one runs at a time, or as many as `berth concurrency set` says.
    #[arg(long, value_name = "KEY")]
    pub concurrency_key: Option<ConcurrencyKey>,
    /// Attempts that count, at most; 1 when left out, unless the server is set otherwise. The waits between them grow from 1s to 5m.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_attempts: Option<u32>,
    /// Which ends of an attempt are tried again, with commas: failure (the default), cap (killed over its cap), resources.
    #[arg(long, value_name = "ENDS", value_delimiter = ',')]
    pub retry_on: Vec<RetryOn>,
    /// What a lost attempt means: at_least_once (the default) runs it again, at_most_once does not.
    #[arg(long)]
    pub delivery: Option<Delivery>,
    /// Group of executors to run on; default when left out.
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
    /// Variables from a file, KEY=VALUE a line, as docker's --env-file reads it; may be repeated. --env goes before it.
    #[arg(long, value_name = "FILE")]
    pub env_file: Vec<String>,
    /// What the command reads on its standard input: a text, @FILE, or - for what is piped into this command.
    #[arg(long, value_name = "TEXT|@FILE|-")]
    pub stdin: Option<String>,
    /// Send this file of this machine, and run it by the interpreter of its `#!` line; what follows -- are its arguments.
    /// A command that begins with ./ or ../ is sent as well.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["http", "noop"])]
    pub script: Option<String>,
    /// Call this URL. The task's exit code is the status of the answer, its output the answer's body.
    #[arg(long, value_name = "URL", conflicts_with_all = ["env", "env_file", "stdin"])]
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
    /// Do nothing, for a while: to measure and to try things out.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, num_args = 0..=1, default_missing_value = "0s",
        conflicts_with_all = ["env", "env_file", "stdin"])]
    pub noop: Option<Duration>,
    /// Program and arguments; no shell is involved unless it is the program.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl TaskArguments {
    /// The task, due at once. Reads the files that it names.
    pub fn into_task(self) -> Result<NewTask, Failure> {
        let usual = if self.data.is_some() { HttpMethod::Post } else { HttpMethod::Get };
        let run = match (self.http, self.noop) {
            (Some(url), _) => Run::Http(HttpRun {
                method: self.method.unwrap_or(usual),
                url,
                headers: self.headers.into_iter().collect(),
                body: self.data,
                body_base64: None,
                success: self.success.unwrap_or_default(),
                timeout: None,
            }),
            (None, Some(sleep)) => Run::Noop(NoopRun { sleep }),
            (None, None) => {
                let mut env = env_file::read(&self.env_file)?;
                env.extend(self.env);
                Run::Command(CommandRun {
                    argv: script::sent(self.command, self.script.as_deref())?,
                    env,
                    stdin: self.stdin.as_deref().map(input::text).transpose()?,
                })
            }
        };
        Ok(NewTask {
            name: self.name,
            tier: self.tier,
            delay_tolerance: self.delay_tolerance,
            execution_cap: self.execution_cap,
            expire_if_late: self.expire_if_late.then_some(true),
            priority: self.priority,
            flexible: self.flexible,
            concurrency_key: self.concurrency_key.map(|key| key.to_string()),
            max_attempts: self.max_attempts,
            retry: retry(self.retry_on),
            delivery: self.delivery,
            pool: self.pool,
            unique_key: self.unique_key,
            labels: BTreeMap::from_iter(self.labels),
            ..NewTask::new(run)
        })
    }
}

/// The usual policy but for the ends that it retries; none where these are not given.
fn retry(on: Vec<RetryOn>) -> Option<RetryPolicy> {
    let on = (!on.is_empty()).then(|| on.into_iter().collect());
    on.map(|on| RetryPolicy { on, ..RetryPolicy::default() })
}

/// `KEY=VALUE`; the value may hold further `=`.
pub fn pair(text: &str) -> Result<(String, String), String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};
    use domain::time::format_duration;
    use serde_json::Value;

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
            "grow from {} to {}",
            format_duration(retry.initial),
            format_duration(retry.max)
        );
        let set =
            |value: &str| format!("{value} when left out, unless the server is set otherwise");
        for (flag, default, said) in [
            ("delay_tolerance", Value::from(tolerance.as_str()), set(&tolerance)),
            ("execution_cap", Value::from(cap.as_str()), set(&cap)),
            ("max_attempts", limits.default_max_attempts.into(), set(&attempts)),
            ("max_attempts", limits.default_max_attempts.into(), waits),
            ("tier", Value::Null, "MiB; the default)".to_owned()),
            ("priority", 0.into(), "0 when left out".to_owned()),
            ("delivery", "at_least_once".into(), "at_least_once (the default)".to_owned()),
            ("pool", "default".into(), "default when left out".to_owned()),
        ] {
            assert_eq!(of("TaskSubmit", flag), default, "{flag}");
            assert!(help(flag).contains(&said), "{flag}: {}", help(flag));
        }
        assert_eq!(of("Retry", "on"), serde_json::json!(RetryOn::usual()));
        assert_eq!(of("Retry", "initial"), format_duration(retry.initial));
        assert_eq!(of("Retry", "max"), format_duration(retry.max));
        assert!(help("retry_on").contains("failure (the default)"));
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
    fn the_ends_to_retry_make_a_policy_that_is_usual_otherwise() {
        let retry = |flags: &[&str]| {
            let words = ["berth", "--noop"].iter().chain(flags);
            Some(Alone::try_parse_from(words).ok()?.task.into_task().ok()?.retry)
        };
        assert_eq!(retry(&[]), Some(None));
        let on = |ends: &[RetryOn]| {
            let on = ends.iter().copied().collect();
            Some(Some(RetryPolicy { on, ..RetryPolicy::default() }))
        };
        assert_eq!(retry(&["--retry-on", "failure"]), on(&[RetryOn::Failure]));
        assert_eq!(retry(&["--retry-on", "cap,failure"]), on(&[RetryOn::Failure, RetryOn::Cap]));
        assert_eq!(retry(&["--retry-on", "timeout"]), None);
    }
}
