//! A task of the form as others would submit it: the command line, curl, the crate `client`, Python's standard library.
//!
//! What is shown for `client` is compiled, and what is shown for Python is run, by tests of `api`: change them together.

use super::entered::{Entered, pairs};
use super::task::quoted;
use domain::time::parse_duration;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// The same for the command line.
pub(super) fn cli(entered: &Entered) -> String {
    let mut text = "berth submit".to_owned();
    let mut flag = |name: &str, value: &str| {
        if !value.is_empty() {
            // Into a string: it cannot fail.
            let _ = write!(text, " --{name} {}", quoted(value));
        }
    };
    flag("name", &entered.name);
    flag("tier", &entered.tier);
    flag("delay", &entered.delay);
    flag("delay-tolerance", &entered.delay_tolerance);
    flag("execution-cap", &entered.execution_cap);
    flag("max-attempts", &entered.max_attempts);
    flag("pool", &entered.pool);
    flag("unique-key", &entered.unique_key);
    flag("concurrency-key", &entered.concurrency_key);
    for (key, value) in pairs(&entered.labels) {
        flag("label", &format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    if entered.kind == "http" {
        flag("http", &entered.url);
        flag("method", &entered.method);
        flag("data", &entered.body);
    } else {
        for (key, value) in pairs(&entered.env) {
            flag("env", &format!("{key}={}", value.as_str().unwrap_or_default()));
        }
    }
    if entered.expire_if_late {
        text.push_str(" --expire-if-late");
    }
    if entered.kind != "http" {
        let _ = write!(text, " -- bash -c {}", quoted(&entered.command));
    }
    text
}

/// The same for curl.
pub(super) fn curl(server: &str, document: &Value) -> String {
    format!(
        "curl {server}/v1/tasks \\\n  -H \"Authorization: Bearer $BERTH_API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
        quoted(&document.to_string())
    )
}

/// The same for Python, without a package.
pub(super) fn python(server: &str, document: &Value) -> String {
    let mut task = String::new();
    write_python(&mut task, document, 0);
    format!(
        r#"import json
import os
import urllib.request

task = {task}
request = urllib.request.Request(
    {},
    data=json.dumps(task).encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["BERTH_API_KEY"],
        "Content-Type": "application/json",
    }},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer)["id"])
"#,
        Value::from(format!("{server}/v1/tasks"))
    )
}

/// A value as Python writes it: a text of JSON is one of Python, too.
fn write_python(text: &mut String, value: &Value, depth: usize) {
    let inner = "    ".repeat(depth + 1);
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(value) => text.push_str(if *value { "True" } else { "False" }),
        Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
        Value::Array(values) => {
            text.push('[');
            for (place, value) in values.iter().enumerate() {
                text.push_str(if place == 0 { "" } else { ", " });
                write_python(text, value, depth);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push_str("{\n");
            for (name, value) in fields {
                text.push_str(&inner);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write_python(text, value, depth + 1);
                text.push_str(",\n");
            }
            text.push_str(&"    ".repeat(depth));
            text.push('}');
        }
    }
}

/// The same for Rust with the crate `client`, as a whole program.
pub(super) fn rust(server: &str, document: &Value) -> String {
    let mut uses = BTreeSet::from(["Client", "NewTask"]);
    let mut requests = BTreeSet::new();
    let none = Map::new();
    let task = document.as_object().unwrap_or(&none);
    let mut fields = String::new();
    for (name, value) in task.iter().filter(|(name, _)| *name != "run") {
        let Some(value) = field(name, value, (&mut uses, &mut requests)) else { continue };
        // Into a string: it cannot fail.
        let _ = writeln!(fields, "        {name}: Some({value}),");
    }
    let indent = if fields.is_empty() { "    " } else { "        " };
    let run = run(&document["run"], indent, (&mut uses, &mut requests));
    let task = if fields.is_empty() {
        run
    } else {
        format!("NewTask {{\n{fields}        ..{run}\n    }}")
    };
    let listed = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let mut heads = String::new();
    if !requests.is_empty() {
        let _ = writeln!(heads, "use client::request::{{{}}};", listed(requests));
    }
    let _ = writeln!(heads, "use client::{{{}}};", listed(uses));
    heads.push_str("use std::error::Error;\n");
    if fields.contains("Duration::") {
        heads.push_str("use std::time::Duration;\n");
    }
    format!(
        r#"{heads}
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {{
    let key = std::env::var("BERTH_API_KEY")?;
    let client = Client::builder({server:?}).api_key(key).build()?;
    let stored = client.submit(&task()?).await?;
    println!("{{}}", stored.id);
    Ok(())
}}

fn task() -> Result<NewTask, Box<dyn Error>> {{
    Ok({task})
}}
"#
    )
}

/// Names that a program uses: of `client`, and of `client::request`.
type Uses<'a> = (&'a mut BTreeSet<&'static str>, &'a mut BTreeSet<&'static str>);

/// The value of a field; `None` of what the API would refuse, and Rust, too.
fn field(name: &str, value: &Value, (uses, requests): Uses<'_>) -> Option<String> {
    let text = value.as_str();
    match name {
        "tier" => {
            uses.insert("Tier");
            let kinds = [("basic", "Basic"), ("regular", "Regular"), ("premium", "Premium")];
            let (_, kind) = kinds.into_iter().find(|(word, _)| Some(*word) == text)?;
            Some(format!("Tier::{kind}"))
        }
        "delay" | "delay_tolerance" | "execution_cap" => {
            let length = parse_duration(text?).ok()?;
            Some(format!("{}.into()", duration(length)))
        }
        "pool" => {
            uses.insert("PoolName");
            Some(format!("{:?}.parse::<PoolName>()?.into()", text?))
        }
        "concurrency_key" => {
            uses.insert("ConcurrencyKey");
            Some(format!("{:?}.parse::<ConcurrencyKey>()?.into()", text?))
        }
        "labels" => {
            requests.insert("Pairs");
            Some(pairs_of(value))
        }
        "max_attempts" | "expire_if_late" if text.is_none() => Some(value.to_string()),
        "name" | "unique_key" => Some(format!("{:?}.to_owned()", text?)),
        _ => None,
    }
}

fn duration(length: Duration) -> String {
    match (length.as_secs(), length.subsec_nanos()) {
        (seconds, 0) => format!("Duration::from_secs({seconds})"),
        _ => format!("Duration::from_millis({})", length.as_millis()),
    }
}

fn pairs_of(value: &Value) -> String {
    let pair = |(key, value): (&String, &Value)| {
        format!("({key:?}.to_owned(), {:?}.to_owned())", value.as_str().unwrap_or_default())
    };
    let all: Vec<String> = value.as_object().into_iter().flatten().map(pair).collect();
    format!("Pairs(vec![{}])", all.join(", "))
}

/// The task of what it runs, in a line that begins with `indent`.
fn run(run: &Value, indent: &str, (uses, requests): Uses<'_>) -> String {
    let (call, command) = (&run["http"], &run["command"]);
    let texts = |value: &Value| -> Vec<String> {
        let words = value.as_array().into_iter().flatten();
        words.map(|word| format!("{:?}", word.as_str().unwrap_or_default())).collect()
    };
    if call.is_null() && command["env"].is_null() {
        return format!("NewTask::command([{}])", texts(&command["argv"]).join(", "));
    }
    requests.insert("Run");
    let (of, kind, fields) = if call.is_null() {
        requests.extend(["CommandRun", "Pairs"]);
        let words: Vec<String> =
            texts(&command["argv"]).iter().map(|word| format!("{word}.to_owned()")).collect();
        let fields = vec![
            format!("argv: Some(vec![{}])", words.join(", ")),
            format!("env: Some({})", pairs_of(&command["env"])),
        ];
        ("command", "CommandRun", fields)
    } else {
        requests.insert("HttpRun");
        let text = |name: &str| call[name].as_str().filter(|text| !text.is_empty());
        let mut fields = Vec::new();
        if let Some(method) = text("method") {
            uses.insert("HttpMethod");
            fields.push(format!("method: Some({method:?}.parse::<HttpMethod>()?.into())"));
        }
        for name in ["url", "body"] {
            fields.extend(text(name).map(|text| format!("{name}: Some({text:?}.to_owned())")));
        }
        ("http", "HttpRun", fields)
    };
    let fields = fields.join(&format!(",\n{indent}        "));
    format!(
        "NewTask::new(Run {{
{indent}    {of}: Some({kind} {{
{indent}        {fields},
{indent}        ..{kind}::default()
{indent}    }}),
{indent}    ..Run::default()
{indent}}})"
    )
}

#[cfg(test)]
mod tests {
    use super::super::entered::{document, of_form};
    use super::*;
    use crate::form::Fields;

    #[test]
    fn a_form_is_the_command_that_it_says() {
        let form = Fields::parse(b"kind=command&command=echo+hi%0D%0Aexit+3&name=it%27s&labels=team%3Da%0D%0A%0D%0Aenv%3Db%3Dc&max_attempts=3");
        assert_eq!(
            cli(&of_form(&form)),
            "berth submit --name 'it'\\''s' --max-attempts 3 --label env=b=c --label team=a -- bash -c 'echo hi\nexit 3'"
        );
    }

    #[test]
    fn what_is_entered_never_leaves_its_text() {
        let form =
            Fields::parse(b"kind=command&command=%22%5C%27+%24%28x%29&name=%22%29%3B+evil%28%22");
        let document = document(&of_form(&form));
        let rust = rust("http://h", &document);
        assert!(rust.contains(r#"name: Some("\"); evil(\"".to_owned())"#), "{rust}");
        assert!(rust.contains(r#"NewTask::command(["bash", "-c", "\"\\' $(x)"])"#), "{rust}");
        let python = python("http://h", &document);
        assert!(python.contains(r#""name": "\"); evil(\"","#), "{python}");
    }
}
