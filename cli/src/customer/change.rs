//! `berth change`: changes a task before it runs.

use super::connection::Connection;
use super::failure::failure;
use super::set::{Setting, patch, setting, unset};
use super::submit::time;
use super::task_arguments::pair;
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::batch::Priority;
use domain::id::TaskId;
use domain::merge_patch;
use domain::time::{Timestamp, format_duration, parse_duration};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What changes of a task.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth change ID [OPTIONS]",
    after_help = "Examples:\n  berth change task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --priority 5 --label team=media\n  \
                  berth change task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --at 2030-01-31T12:00:00Z --unset labels.team\n  \
                  berth change task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --env A=2 --if-version 3\n\n\
                  Omitted fields stay unchanged. A running or ended task cannot be changed: see `berth rerun`."
)]
pub struct ChangeArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Due time, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub at: Option<Timestamp>,
    /// Delay from now, such as 10s.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "at")]
    pub delay: Option<Duration>,
    /// How long after its due time the task may start.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub delay_tolerance: Option<Duration>,
    /// Longest run time of one attempt.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub execution_cap: Option<Duration>,
    /// Priority among your tasks, -10 to 10.
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub priority: Option<Priority>,
    /// Most charged attempts, with those that have failed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_attempts: Option<u32>,
    /// Label to set; repeatable.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// Environment variable of the command to set; repeatable.
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = pair)]
    pub env: Vec<(String, String)>,
    /// Other way to name a field, such as execution_cap=5m or env.A=2; repeatable.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
    /// Field to reset to its default, such as priority, labels.team or env.A; repeatable.
    #[arg(long = "unset", value_name = "FIELD", value_parser = unset)]
    pub unset: Vec<Setting>,
    /// Only if the task has this version, see `version` in `berth get --output json`.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Changes a task and shows its version.
pub async fn run(connection: &Connection, arguments: &ChangeArguments) -> Result<(), Failure> {
    let change = change(arguments);
    if change.as_object().is_none_or(Map::is_empty) {
        return Err(Failure::usage("no change was given; see `berth change --help`"));
    }
    let (id, version) = (arguments.id, arguments.if_version);
    let task = connection.client.change_task(id, &change, version).await;
    let task = task.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(task.json()),
        Format::Table => {
            output::line(&format!("{} {}, version {}", task.id, task.state, task.version))
        }
    }
}

/// The merge patch that the flags stand for.
fn change(arguments: &ChangeArguments) -> Value {
    let texts = |pairs: &[(String, String)]| {
        let fields = pairs.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
        (!pairs.is_empty()).then(|| Value::Object(fields.collect()))
    };
    let duration = |given: Option<Duration>| given.map(|given| json!(format_duration(given)));
    let named = [
        ("run_at", arguments.at.map(|at| json!(at))),
        ("delay", duration(arguments.delay)),
        ("delay_tolerance", duration(arguments.delay_tolerance)),
        ("execution_cap", duration(arguments.execution_cap)),
        ("priority", arguments.priority.map(|priority| json!(priority))),
        ("max_attempts", arguments.max_attempts.map(|most| json!(most))),
        ("labels", texts(&arguments.labels)),
        ("run", texts(&arguments.env).map(|env| json!({"command": {"env": env}}))),
    ];
    let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut change = Value::Object(named.collect());
    merge_patch::merge(&mut change, patch(arguments.set.iter().chain(&arguments.unset)));
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        change: ChangeArguments,
    }

    fn of(flags: &[&str]) -> Value {
        let id = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
        let typed = Typed::try_parse_from(["change", id].iter().chain(flags)).unwrap();
        change(&typed.change)
    }

    #[test]
    fn flags_are_the_merge_patch_of_what_they_name() {
        assert_eq!(of(&[]), json!({}));
        let all = of(&[
            "--at",
            "2030-01-31T12:00:00Z",
            "--delay-tolerance",
            "90s",
            "--execution-cap",
            "5m",
            "--priority",
            "-3",
            "--max-attempts",
            "4",
            "--label",
            "team=media",
            "--env",
            "A=2",
        ]);
        let wanted = json!({"run_at": "2030-01-31T12:00:00Z", "delay_tolerance": "1m30s", "execution_cap": "5m",
            "priority": -3, "max_attempts": 4, "labels": {"team": "media"}, "run": {"command": {"env": {"A": "2"}}}});
        assert_eq!(all, wanted);
        assert_eq!(of(&["--delay", "10s"]), json!({"delay": "10s"}));
    }

    #[test]
    fn set_and_unset_join_the_flags() {
        let both = of(&["--env", "A=2", "--set", "env.B=3", "--unset", "env.C", "--label", "a=1"]);
        let env = json!({"A": "2", "B": "3", "C": null});
        assert_eq!(both, json!({"run": {"command": {"env": env}}, "labels": {"a": "1"}}));
        assert_eq!(of(&["--unset", "priority"]), json!({"priority": null}));
    }
}
