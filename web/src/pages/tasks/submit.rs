//! `/tasks/new`: a form for a task, with what is wrong at its fields, and the same as curl and as a command.

use super::task::quoted;
use crate::backend::Method;
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, Extensible, FieldError, Task};
use askama::Template;
use domain::task::Run;
use domain::time::format_duration;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What the form holds, as it was sent or as a task has it.
#[derive(Debug, Clone, Default)]
struct Entered {
    kind: String,
    command: String,
    url: String,
    method: String,
    body: String,
    name: String,
    tier: String,
    delay: String,
    delay_tolerance: String,
    execution_cap: String,
    max_attempts: String,
    pool: String,
    unique_key: String,
    concurrency_key: String,
    labels: String,
    env: String,
    expire_if_late: bool,
    /// The task that it is like.
    from: String,
}

#[derive(Template)]
#[template(path = "tasks/submit.html")]
struct SubmitPage {
    frame: Frame,
    entered: Entered,
    /// What is wrong, and where.
    errors: Vec<FieldError>,
    /// What is wrong with none of the fields.
    wrong: Option<String>,
    curl: String,
    cli: String,
    once: String,
}

impl SubmitPage {
    /// What is wrong with a field, by the start of its pointer.
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        self.errors.iter().find(|it| is_at(it, pointer)).map(|error| error.detail.as_str())
    }
}

fn is_at(error: &FieldError, pointer: &str) -> bool {
    error.pointer == pointer
        || error.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'))
}

/// The fields of the form; what is wrong elsewhere is told above it.
const POINTERS: [&str; 15] = [
    "/run/command",
    "/run/http/url",
    "/run/http/method",
    "/run/http/body",
    "/run/command/env",
    "/name",
    "/tier",
    "/delay",
    "/delay_tolerance",
    "/execution_cap",
    "/max_attempts",
    "/pool",
    "/unique_key",
    "/concurrency_key",
    "/labels",
];

/// Shows the form, filled with a task where it is to be like one.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let entered = match visit.query.get("from") {
        Some(id) => {
            let task: Task = visit.get(format!("/v1/tasks/{}", in_path(id))).await?;
            of_task(&task)
        }
        None => {
            Entered { kind: "command".to_owned(), method: "GET".to_owned(), ..Entered::default() }
        }
    };
    page(&form(&visit, entered, Vec::new(), None))
}

/// Submits the task, or shows what would be sent.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let entered = of_form(&visit.form);
    if visit.form.has("show") {
        return page(&form(&visit, entered, Vec::new(), None));
    }
    match visit.send::<_, Task>(Method::Post, "/v1/tasks", &document(&entered)).await {
        Ok(task) => {
            Err(Fault::to(format!("/tasks/{}?done=submitted", in_path(&task.id.to_string()))))
        }
        Err(Fault::Problem(problem)) => {
            let is_field = problem.code == ErrorCode::ValidationFailed;
            let placed = |error: &FieldError| POINTERS.iter().any(|pointer| is_at(error, pointer));
            let all = is_field && !problem.errors.is_empty() && problem.errors.iter().all(placed);
            let wrong = (!all).then_some(problem.detail);
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            page_with(status, &form(&visit, entered, problem.errors, wrong))
        }
        Err(fault) => Err(fault),
    }
}

fn form(
    visit: &Visit,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
) -> SubmitPage {
    let document = document(&entered);
    let host = visit.http.connection_info().host().to_owned();
    let scheme = if visit.is_secure() { "https" } else { "http" };
    let json = serde_json::to_string(&document).unwrap_or_default();
    let curl = format!(
        "curl {scheme}://{host}/v1/tasks \\\n  -H \"Authorization: Bearer $BERTH_API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
        quoted(&json)
    );
    let cli = cli(&entered);
    let frame = Frame::new(visit, Section::Tasks, "Submit a task");
    SubmitPage { frame, entered, errors, wrong, curl, cli, once: visit.once() }
}

fn of_form(form: &Fields) -> Entered {
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

fn of_task(task: &Task) -> Entered {
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
fn pairs(text: &str) -> Map<String, Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| line.split_once('=').unwrap_or((line, "")))
        .map(|(k, v)| (k.to_owned(), v.into()))
        .collect()
}

/// What is sent to the API.
fn document(entered: &Entered) -> Value {
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

/// The same for the command line.
fn cli(entered: &Entered) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_the_document_and_the_command_that_it_says() {
        let form = Fields::parse(b"kind=command&command=echo+hi%0D%0Aexit+3&name=it%27s&labels=team%3Da%0D%0A%0D%0Aenv%3Db%3Dc&max_attempts=3");
        let entered = of_form(&form);
        assert_eq!(
            document(&entered),
            json!({"name": "it's", "max_attempts": 3, "labels": {"team": "a", "env": "b=c"},
                "run": {"command": {"argv": ["bash", "-c", "echo hi\nexit 3"]}}})
        );
        assert_eq!(
            cli(&entered),
            "berth submit --name 'it'\\''s' --max-attempts 3 --label env=b=c --label team=a -- bash -c 'echo hi\nexit 3'"
        );
    }

    #[test]
    fn an_error_belongs_to_the_field_that_holds_its_place() {
        let error =
            |pointer: &str| FieldError { pointer: pointer.to_owned(), detail: String::new() };
        assert!(is_at(&error("/labels/a"), "/labels") && is_at(&error("/name"), "/name"));
        assert!(!is_at(&error("/delay_tolerance"), "/delay"));
    }
}
