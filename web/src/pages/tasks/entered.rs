//! What the form of a task holds, and the document that it is for the API.

use super::task::quoted;
use crate::form::Fields;
use api_types::{Extensible, Task};
use domain::task::Run;
use domain::time::format_duration;
use serde_json::{Map, Value, json};

/// What the form holds, as it was sent or as a task has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Entered {
    pub kind: String,
    pub command: String,
    pub url: String,
    pub method: String,
    pub body: String,
    pub name: String,
    pub tier: String,
    pub delay: String,
    pub delay_tolerance: String,
    pub execution_cap: String,
    pub max_attempts: String,
    pub pool: String,
    pub unique_key: String,
    pub concurrency_key: String,
    pub labels: String,
    pub env: String,
    pub expire_if_late: bool,
    /// The task that it is like.
    pub from: String,
}

/// As it was sent.
pub(super) fn of_form(form: &Fields) -> Entered {
    let text = |name| form.text(name).to_owned();
    let whole = |name| form.get(name).unwrap_or_default().replace("\r\n", "\n");
    Entered {
        kind: text("kind"),
        command: whole("command"),
        url: text("url"),
        method: text("method"),
        body: whole("body"),
        name: text("name"),
        tier: text("tier"),
        delay: text("delay"),
        delay_tolerance: text("delay_tolerance"),
        execution_cap: text("execution_cap"),
        max_attempts: text("max_attempts"),
        pool: text("pool"),
        unique_key: text("unique_key"),
        concurrency_key: text("concurrency_key"),
        labels: whole("labels"),
        env: whole("env"),
        expire_if_late: form.has("expire_if_late"),
        from: text("from"),
    }
}

/// As a task has it.
pub(super) fn of_task(task: &Task) -> Entered {
    let pair = |(key, value): (&String, &String)| format!("{key}={value}");
    let mut entered = Entered {
        kind: "command".to_owned(),
        method: "GET".to_owned(),
        name: task.name.clone().unwrap_or_default(),
        tier: task.tier.as_ref().map(ToString::to_string).unwrap_or_default(),
        delay_tolerance: format_duration(task.delay_tolerance),
        execution_cap: format_duration(task.execution_cap),
        max_attempts: task.max_attempts.to_string(),
        pool: task.pool.to_string(),
        concurrency_key: task.concurrency_key.clone().unwrap_or_default(),
        labels: task.labels.iter().map(pair).collect::<Vec<_>>().join("\n"),
        expire_if_late: task.expire_if_late,
        from: task.id.to_string(),
        ..Entered::default()
    };
    match task.run.as_ref().and_then(Extensible::known) {
        Some(Run::Command(command)) => {
            entered.command = match command.argv.as_slice() {
                [shell, flag, script] if shell == "bash" && flag == "-c" => script.clone(),
                argv => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            };
            entered.env = command.env.iter().map(pair).collect::<Vec<_>>().join("\n");
        }
        Some(Run::Http(http)) => {
            let json = serde_json::to_value(http).unwrap_or_default();
            let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
            (entered.kind, entered.url, entered.method, entered.body) =
                ("http".to_owned(), text("url"), text("method"), text("body"));
        }
        Some(Run::Noop(_)) | None => {}
    }
    entered
}

/// `key=value` a line.
pub(super) fn pairs(text: &str) -> Map<String, Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| line.split_once('=').unwrap_or((line, "")))
        .map(|(k, v)| (k.to_owned(), v.into()))
        .collect()
}

/// What is sent to the API.
pub(super) fn document(entered: &Entered) -> Value {
    let mut task = Map::new();
    let mut run = Map::new();
    if entered.kind == "http" {
        run.insert("url".to_owned(), entered.url.as_str().into());
        for (name, value) in [("method", &entered.method), ("body", &entered.body)] {
            if !value.is_empty() {
                run.insert(name.to_owned(), value.as_str().into());
            }
        }
    } else {
        let argv = if entered.command.trim().is_empty() {
            json!([])
        } else {
            json!(["bash", "-c", entered.command])
        };
        run.insert("argv".to_owned(), argv);
        let env = pairs(&entered.env);
        if !env.is_empty() {
            run.insert("env".to_owned(), env.into());
        }
    }
    let kind = if entered.kind == "http" { "http" } else { "command" };
    for (name, value) in [
        ("name", &entered.name),
        ("tier", &entered.tier),
        ("delay", &entered.delay),
        ("delay_tolerance", &entered.delay_tolerance),
        ("execution_cap", &entered.execution_cap),
        ("pool", &entered.pool),
        ("unique_key", &entered.unique_key),
        ("concurrency_key", &entered.concurrency_key),
    ] {
        if !value.is_empty() {
            task.insert(name.to_owned(), value.as_str().into());
        }
    }
    if !entered.max_attempts.is_empty() {
        // What is no number is refused by the API, at its field.
        let text = || Value::from(entered.max_attempts.as_str());
        let number = entered.max_attempts.parse::<u32>().map_or_else(|_| text(), Value::from);
        task.insert("max_attempts".to_owned(), number);
    }
    if entered.expire_if_late {
        task.insert("expire_if_late".to_owned(), true.into());
    }
    let labels = pairs(&entered.labels);
    if !labels.is_empty() {
        task.insert("labels".to_owned(), labels.into());
    }
    task.insert("run".to_owned(), json!({kind: run}));
    task.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_the_document_that_it_says() {
        let form = Fields::parse(b"kind=command&command=echo+hi%0D%0Aexit+3&name=it%27s&labels=team%3Da%0D%0A%0D%0Aenv%3Db%3Dc&max_attempts=3");
        assert_eq!(
            document(&of_form(&form)),
            json!({"name": "it's", "max_attempts": 3, "labels": {"team": "a", "env": "b=c"},
                "run": {"command": {"argv": ["bash", "-c", "echo hi\nexit 3"]}}})
        );
    }
}
