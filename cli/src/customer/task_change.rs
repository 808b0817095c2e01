//! What the flags of a task change of one that is stored: a merge patch of just what is named.
//!
//! Called for edits of a schedule. Labels and variables of the environment are changed one by one; a program is replaced with its
//! arguments.

use super::task_arguments::TaskArguments;
use super::{env_file, input, script};
use crate::failure::Failure;
use domain::time::format_duration;
use serde_json::{Map, Value, json};

/// The merge patch. Reads the files that the flags name.
pub(super) fn change(task: TaskArguments) -> Result<Value, Failure> {
    let mut change = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        change.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("name", task.name.map(Value::from));
    put("tier", task.tier.map(|tier| json!(tier)));
    put("delay_tolerance", task.delay_tolerance.map(|of| Value::from(format_duration(of))));
    put("execution_cap", task.execution_cap.map(|of| Value::from(format_duration(of))));
    put("expire_if_late", task.expire_if_late.then_some(Value::from(true)));
    put("priority", task.priority.map(|priority| json!(priority)));
    put("flexible", task.flexible.map(Value::from));
    put("concurrency_key", task.concurrency_key.map(|key| Value::from(key.to_string())));
    put("max_attempts", task.max_attempts.map(Value::from));
    put("delivery", task.delivery.map(|delivery| json!(delivery)));
    put("pool", task.pool.map(Value::from));
    put("unique_key", task.unique_key.map(Value::from));
    put("labels", object(task.labels));

    let mut command = Map::new();
    if !task.command.is_empty() || task.script.is_some() {
        let argv = script::sent(task.command, task.script.as_deref())?;
        command.insert("argv".to_owned(), Value::from(argv));
    }
    let mut env = env_file::read(&task.env_file)?;
    env.extend(task.env);
    command.extend(object(env).map(|env| ("env".to_owned(), env)));
    if let Some(given) = &task.stdin {
        command.insert("stdin".to_owned(), Value::from(input::text(given)?));
    }
    let mut http = Map::new();
    let fields = [
        ("url", task.http.map(Value::from)),
        ("method", task.method.map(|method| json!(method))),
        ("headers", object(task.headers)),
        ("body", task.data.map(Value::from)),
        ("success", task.success.map(|success| json!(success))),
    ];
    for (name, value) in fields {
        http.extend(value.map(|value| (name.to_owned(), value)));
    }
    let noop = task.noop.map(|sleep| json!({"sleep": format_duration(sleep)}));
    let some = |of: Map<String, Value>| (!of.is_empty()).then_some(Value::Object(of));
    let drivers = [("command", some(command)), ("http", some(http)), ("noop", noop)];
    let run = drivers.into_iter().filter_map(|(name, of)| Some((name.to_owned(), of?)));
    put("run", some(run.collect()));
    Ok(Value::Object(change))
}

fn object(pairs: impl IntoIterator<Item = (String, String)>) -> Option<Value> {
    let pairs: Map<String, Value> =
        pairs.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    (!pairs.is_empty()).then_some(Value::Object(pairs))
}
