//! `GET /tasks/{id}`: a task's life, why it waits, what it wrote and returned, and what can be done with it.

use super::lever::{self, Lever, Waits};
use super::output::{self, Output};
use super::timeline::{Step, is_call, steps};
use crate::backend::Method;
use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, Section, page};
use crate::visit::{Visit, in_path};
use crate::words::{Mark, Moment, count, length, mark, money, ms};
use actix_web::HttpResponse;
use api_types::sentences::{because, starts};
use api_types::{Attempt, Explanation, Extensible, Page, Task, TaskCost};
use askama::Template;
use chrono::TimeDelta;
use domain::access::Permission;
use domain::task::{Run, State};
use runtime::clock::wall;
use serde_json::Value;
use std::time::Duration;

#[derive(Template)]
#[template(path = "tasks/task.html")]
struct TaskPage {
    frame: Frame,
    id: String,
    title: String,
    part: Life,
    output: Output,
    /// The URL of the output's part, where it goes on.
    output_live: Option<String>,
    find: String,
    live: Option<String>,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "tasks/life.html")]
struct Life {
    task: Task,
    id: String,
    state: Mark,
    levers: Vec<Lever>,
    may_submit: bool,
    sentences: Vec<String>,
    steps: Vec<Step>,
    facts: Vec<(&'static str, String)>,
    times: Vec<(&'static str, Moment)>,
    labels: Vec<(String, String, String)>,
    /// Path and name.
    schedule: Option<(String, String)>,
    run: String,
    command: String,
    result: Option<String>,
    is_over: bool,
}

/// Shows it, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let path = format!("/v1/tasks/{}", visit.part_in_path("id"));
    if visit.fragment() == Some("output") {
        let task: Task = visit.get(path).await?;
        return page(&output::read(&visit, &task.id.to_string(), task.is_finished()).await?);
    }
    let task: Task = visit.get(format!("{path}?include=cost")).await?;
    let id = task.id.to_string();
    if visit.fragment().is_some() {
        return page(&life(&visit, task).await?);
    }
    let is_over = task.is_finished();
    let (part, output) = futures::join!(life(&visit, task), output::read(&visit, &id, is_over));
    let (part, output) = (part?, output?);
    let title = part.task.name.clone().unwrap_or_else(|| id.clone());
    let own = format!("/tasks/{}", in_path(&id));
    let kept =
        |name| with_query(&own, &visit.query.query(&["attempt", "stream"], &[("fragment", name)]));
    let find = visit.query.text("find").to_owned();
    page(&TaskPage {
        frame: Frame::new(&visit, Section::Tasks, title.clone()),
        output_live: (!is_over && find.is_empty()).then(|| kept("output")),
        live: (!is_over).then(|| kept("life")),
        id,
        title,
        part,
        output,
        find,
    })
}

async fn life(visit: &Visit, task: Task) -> Result<Life, Fault> {
    let now = wall();
    let id = task.id.to_string();
    let path = format!("/v1/tasks/{}", in_path(&id));
    let (attempts, explanation, result) = futures::join!(
        visit.get::<Page<Attempt>>(format!("{path}/attempts?limit=200")),
        visit.get::<Explanation>(format!("{path}/explain")),
        result(visit, &task),
    );
    let (attempts, explanation) = (attempts?, explanation?);
    let waits = Waits::of(&explanation);
    let mut sentences: Vec<String> =
        explanation.reasons.iter().map(|reason| because(reason, &explanation)).collect();
    // The start belongs to the decisive reason.
    if let Some(start) = starts(&explanation) {
        sentences.insert(sentences.len().min(1), start);
    }
    let run = task.run.as_ref();
    Ok(Life {
        state: waits.mark().unwrap_or_else(|| mark(&task.state)),
        levers: lever::of(visit, &task.state, waits),
        may_submit: visit.may(Permission::SubmitTasks),
        sentences,
        steps: steps(&task, &attempts.data, now),
        facts: facts(&task, &attempts.data),
        times: times(&task),
        labels: labels(&task),
        schedule: task
            .schedule_name
            .as_ref()
            .map(|name| (format!("/schedules/{}", in_path(name)), name.clone())),
        command: command(run),
        run: run.map(pretty).transpose()?.unwrap_or_default(),
        result: result?,
        is_over: task.is_finished(),
        id,
        task,
    })
}

/// What it returned, where it did.
async fn result(visit: &Visit, task: &Task) -> Result<Option<String>, Fault> {
    if task.state != State::Succeeded {
        return Ok(None);
    }
    let target = format!("/v1/tasks/{}/result", in_path(&task.id.to_string()));
    let reply = visit.reply(Method::Get, target, None, Vec::new()).await;
    if reply.status != 200 {
        return Ok(None);
    }
    Ok(Some(pretty(&serde_json::from_slice::<Value>(&reply.body)?)?))
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Fault> {
    Ok(serde_json::to_string_pretty(value)?)
}

/// A command as a shell would take it; a call as a line.
fn command(run: Option<&Extensible<Run>>) -> String {
    match run.and_then(Extensible::known) {
        Some(Run::Command(command)) => {
            command.argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
        Some(Run::Http(http)) => {
            let json = serde_json::to_value(http).unwrap_or_default();
            let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("method"), text("url")).trim().to_owned()
        }
        Some(Run::Noop(noop)) => format!("wait for {}", of(noop.sleep)),
        None => String::new(),
    }
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn of(duration: Duration) -> String {
    ms(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

fn facts(task: &Task, attempts: &[Attempt]) -> Vec<(&'static str, String)> {
    let resources = &task.resources;
    let tier = task.tier.as_ref().map(|tier| format!("{tier}: ")).unwrap_or_default();
    let needs = format!(
        "{tier}{} millicores, {} MiB",
        count(resources.cpu_millis.into()),
        count(resources.memory_mib.into())
    );
    let billed: i64 = attempts.iter().filter(|attempt| attempt.charged).map(|it| it.usage_ms).sum();
    let mut facts = vec![
        ("Needs", needs),
        ("Pool", task.pool.to_string()),
        ("Attempts", format!("{} so far, at most {} that count", task.attempts, task.max_attempts)),
        ("Billed time", ms(billed)),
        ("Cost so far", cost(task.cost.as_deref().unwrap_or_default())),
        ("Runs at most", of(task.execution_cap)),
        ("May start late by", of(task.delay_tolerance)),
    ];
    if let (Some(started), Some(finished)) = (task.started_at, task.finished_at) {
        facts.push(("From start to end", length(finished - started)));
    }
    if let Some(code) = task.exit_code {
        let is_call = is_call(task);
        facts.push((if is_call { "Status" } else { "Exit code" }, code.to_string()));
    }
    if task.priority.level() != 0 {
        facts.push(("Priority", task.priority.level().to_string()));
    }
    facts.extend(task.concurrency_key.clone().map(|key| ("Concurrency key", key)));
    facts.extend(task.unique_key.clone().map(|key| ("Unique key", key)));
    facts.extend(task.executor.as_ref().map(|executor| ("Executor", executor.to_string())));
    facts.extend(task.expire_if_late.then(|| ("If it is late", "it expires".to_owned())));
    facts
}

/// What its ended attempts cost.
fn cost(costs: &[TaskCost]) -> String {
    let said = |cost: &TaskCost| match cost.currency {
        Some(code) => money(cost.cost.0, &code.to_string()),
        None if costs.len() == 1 => "unpriced: no prices held, and nothing is billed".to_owned(),
        None => format!("{} of its attempts unpriced", cost.attempts),
    };
    if costs.is_empty() {
        return "nothing yet: no attempt has ended".to_owned();
    }
    costs.iter().map(said).collect::<Vec<_>>().join(", ")
}

fn times(task: &Task) -> Vec<(&'static str, Moment)> {
    let deadline = task.started_at.is_none().then_some(task.start_deadline);
    let all = [
        ("Submitted", Some(task.created_at)),
        (
            "Due",
            Some(task.due_at).filter(|due| *due - task.created_at > TimeDelta::milliseconds(1)),
        ),
        ("To start by", deadline),
        ("Started", task.started_at),
        ("Ended", task.finished_at),
    ];
    all.into_iter().filter_map(|(label, at)| Some((label, Moment(at?)))).collect()
}

/// Each with the list of those that have it.
fn labels(task: &Task) -> Vec<(String, String, String)> {
    let href = |key: &str, value: &str| {
        let label = format!("{key}={value}");
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        with_query("/tasks", &query.append_pair("label", &label).finish())
    };
    task.labels.iter().map(|(key, value)| (key.clone(), value.clone(), href(key, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_copied_into_a_shell() {
        for (word, wanted) in [
            ("echo", "echo"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("--x=/a.b", "--x=/a.b"),
        ] {
            assert_eq!(quoted(word), wanted);
        }
    }
}
