//! `berth rerun`: runs a task again, as a new task.
//!
//! Prints the new task's id and nothing else, as `berth submit` does.

use super::connection::Connection;
use super::follow::follow;
use super::log_reader::Reader;
use super::set::{Setting, command, patch, setting, unset};
use super::submit::{not_submitted, show};
use super::warned::warned;
use crate::failure::Failure;
use crate::output;
use client::{IdempotencyKey, LogFilter};
use domain::id::TaskId;

/// Which task, and what differs.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth rerun ID [--set FIELD=VALUE]... [--unset FIELD]... [-- COMMAND [ARGS]...]",
    after_help = "Examples:\n  berth rerun task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth rerun task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --set execution_cap=5m --set env.A=2 --set max_attempts=3\n  \
                  berth rerun task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --follow -- bash -c 'echo another command'\n\n\
                  The first task may be in any state and does not change; `rerun_of` of the new one refers to it. Fields are those of\n\
                  POST /v1/tasks, with dots: env.NAME, stdin, argv (JSON), labels.KEY, tier, delay, retry.initial and so on."
)]
pub struct RerunArguments {
    /// Id of the task to run again.
    pub id: TaskId,
    /// Field to change, such as execution_cap=5m or env.A=2; repeatable.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
    /// Field to reset to its default, such as labels.team; repeatable.
    #[arg(long = "unset", value_name = "FIELD", value_parser = unset)]
    pub unset: Vec<Setting>,
    /// Idempotency key: repeating the command with the same key runs the task again only once.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Follow the output until the task has finished; the exit code is its result. Ctrl-C does not stop the task.
    #[arg(long, short = 'f')]
    pub follow: bool,
    /// New program and arguments; environment and input stay.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs a task again and prints the id of the new one. It is stored durably then.
pub async fn run(connection: &Connection, arguments: &RerunArguments) -> Result<(), Failure> {
    let key = arguments.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
    let command = command(&arguments.command);
    let change = patch(arguments.set.iter().chain(&arguments.unset).chain(&command));
    let answer = connection.client.rerun(arguments.id, &change, key.clone()).await;
    let task = answer.map_err(|error| not_submitted(&error, &key))?;
    warned(&task.warnings);
    if arguments.follow {
        output::remark(&format!("berth: {} is submitted", task.id));
        let filter = LogFilter::default();
        return follow(connection, task.id, filter, Reader::new(&filter, false)).await;
    }
    show(connection.format, &task)
}
