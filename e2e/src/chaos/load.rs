//! Customers who send what they have when they have it, whether or not the last answer has come.
//!
//! Each batch has a key of its own and is sent until it is answered, as a customer who wants to be sure does. The rule: what is
//! acknowledged is remembered, and what is not is asked for again.

use crate::promise::{Promise, Violation};
use crate::{Customer, Mix, Submitted};
use runtime::clock::{self, Instant};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::ledger::Ledger;
use tokio::task::JoinSet;

/// Tasks in a batch; every tenth request is a single one, and every fourth a workflow run.
const BATCH: usize = 20;
const SINGLE_EVERY: usize = 10;
const RUN_EVERY: usize = 4;
/// A customer gives up after this.
const GIVE_UP: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(50);

/// Two tasks of ten are commands that write into the ledger; a quarter of these fails once.
const MIX: Mix = Mix { commands: 2, fail_once_percent: 25, work: Duration::from_millis(20) };

/// What customers were answered.
#[derive(Debug, Default)]
pub struct Answers {
    /// What was acknowledged.
    pub submitted: Submitted,
    /// How long answers took, from the first try on, ms.
    pub took_ms: Vec<u64>,
    /// What is not as promised.
    pub violations: Vec<Violation>,
    /// Requests that came to no answer at all.
    pub cut_off: u64,
    /// Answers of 5xx.
    pub failed: u64,
}

/// How often requests came to nothing.
#[derive(Debug, Default)]
struct Misses {
    cut_off: AtomicU64,
    failed: AtomicU64,
}

/// Sends `count` tasks, `rate` a second, in turn as each of the customers. `name` is part of the keys.
pub async fn send(
    customers: &[Arc<Customer>],
    ledger: &Ledger,
    (name, count, rate): (&str, usize, f64),
    began: Instant,
) -> anyhow::Result<Answers> {
    let misses = Arc::new(Misses::default());
    let mut asking = JoinSet::new();
    let (mut sent, mut request) = (0, 0);
    while sent < count {
        clock::sleep_until(began + Duration::from_secs_f64(sent as f64 / rate)).await;
        let single = request % SINGLE_EVERY == SINGLE_EVERY - 1;
        let upto = count.min(sent + if single { 1 } else { BATCH });
        let mut tasks =
            (sent..upto).map(|n| task(n, ledger)).collect::<anyhow::Result<Vec<_>>>()?;
        link(&mut tasks);
        let customer = Arc::clone(&customers[request % customers.len()]);
        let (key, misses) = (format!("{name}-{request}"), Arc::clone(&misses));
        let (first, count) = (sent, tasks.len());
        let asked = match single {
            true => Asked::Task(tasks.swap_remove(0)),
            false if request % RUN_EVERY == 0 => Asked::Run(workflow(tasks)),
            false => Asked::Batch(json!({ "tasks": tasks })),
        };
        asking.spawn(async move {
            let began = clock::monotonic();
            let ids = insist(&customer, &asked, &key, &misses).await;
            (first, count, ids, began.elapsed())
        });
        (sent, request) = (upto, request + 1);
    }
    let mut answers = Answers::default();
    while let Some(answered) = asking.join_next().await {
        let (first, count, ids, took) = answered?;
        answers.took_ms.push(u64::try_from(took.as_millis())?);
        match ids {
            Ok(ids) => {
                anyhow::ensure!(ids.len() == count, "{} answers to {count} tasks", ids.len());
                for (number, id) in (first..).zip(ids) {
                    if number % 10 < MIX.commands {
                        answers.submitted.commands.push(id.clone());
                    }
                    answers.submitted.all.push(id);
                }
            }
            Err(what) => {
                answers.violations.extend(Violation::counted(Promise::Resumes, 1, what));
            }
        }
    }
    answers.cut_off = misses.cut_off.load(Ordering::Relaxed);
    answers.failed = misses.failed.load(Ordering::Relaxed);
    Ok(answers)
}

/// Makes three of ten tasks of a batch wait for others before them.
fn link(tasks: &mut [Value]) {
    for (place, task) in tasks.iter_mut().enumerate() {
        let (parents, join) = match place % 10 {
            4 => (json!([place - 1, { "task": place - 4, "on": "finished" }]), "all"),
            6 => (json!([place - 1, place - 2]), "any"),
            8 => (json!([place - 2]), "all"),
            _ => continue,
        };
        task["depends_on"] = parents;
        task["join"] = json!(join);
    }
}

/// The same tasks as nodes of a workflow, some of which have a gate.
fn workflow(tasks: Vec<Value>) -> Value {
    let name = |place: &Value| json!(format!("n{:02}", place.as_u64().unwrap_or_default()));
    let nodes = tasks.into_iter().enumerate().map(|(place, mut task)| {
        let mut node = json!({});
        let fields = task.as_object_mut().into_iter();
        let taken = fields.flat_map(|task| [task.remove("depends_on"), task.remove("join")]);
        if let [Some(parents), Some(join)] = &taken.collect::<Vec<_>>()[..] {
            let parents = parents.as_array().into_iter().flatten().map(|parent| match parent {
                Value::Object(edge) => json!({ "node": name(&edge["task"]), "on": edge["on"] }),
                place => name(place),
            });
            (node["after"], node["join"]) = (parents.collect(), join.clone());
        }
        if place % 4 == 3 {
            node["if"] = json!({ "$input": "/go", "eq": true });
        }
        node["task"] = task;
        (format!("n{place:02}"), node)
    });
    let nodes: Map<String, Value> = nodes.collect();
    json!({ "definition": { "nodes": nodes }, "input": { "go": true } })
}

/// Commands, noops, and one in ten that wants ports.
fn task(number: usize, ledger: &Ledger) -> anyhow::Result<Value> {
    if number % 10 == 9 {
        let size = json!({ "cpu_millis": 100, "memory_mib": 100, "ports": 3 });
        let run = json!({ "noop": { "sleep": "50ms" } });
        return Ok(json!({ "run": run, "resources": size, "max_attempts": 3 }));
    }
    MIX.task(number, ledger)
}

/// What is asked for, with its body.
enum Asked {
    Task(Value),
    Batch(Value),
    Run(Value),
}

/// Asks under one key until the tasks are acknowledged; why not, where they are not.
async fn insist(
    customer: &Customer,
    asked: &Asked,
    key: &str,
    misses: &Misses,
) -> Result<Vec<String>, String> {
    let (path, body) = match asked {
        Asked::Task(task) => ("/v1/tasks", task),
        Asked::Batch(tasks) => ("/v1/tasks/batch", tasks),
        Asked::Run(run) => ("/v1/workflow-runs", run),
    };
    let answer = until_answered(customer, ("POST", path, Some(body)), Some(key), misses).await?;
    if !matches!(asked, Asked::Run(_)) {
        return ids_of(&answer);
    }
    let graph = format!("/v1/workflow-runs/{}/graph", answer["id"].as_str().unwrap_or_default());
    let graph = until_answered(customer, ("GET", &graph, None), None, misses).await?;
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    let mut nodes: Vec<_> =
        nodes.filter_map(|node| Some((node["name"].as_str()?, node["task"].as_str()?))).collect();
    nodes.sort_unstable();
    Ok(nodes.into_iter().map(|(_, task)| task.to_owned()).collect())
}

/// Asks until there is an answer that says what is.
async fn until_answered(
    customer: &Customer,
    (method, path, body): (&str, &str, Option<&Value>),
    key: Option<&str>,
    misses: &Misses,
) -> Result<Value, String> {
    let until = clock::monotonic() + GIVE_UP;
    loop {
        match customer.call(method, path, body, key).await {
            Ok((200 | 201, answer)) => return Ok(answer),
            // The one before it may still be under way.
            Ok((409 | 429, _)) => {}
            Ok((500..=599, _)) => count(&misses.failed),
            Ok((status, answer)) => {
                return Err(format!("good {method} {path} was answered {status}: {answer}"));
            }
            Err(_) => count(&misses.cut_off),
        }
        if clock::monotonic() > until {
            return Err(format!("{method} {path} came to no answer for {GIVE_UP:?}"));
        }
        clock::sleep(AGAIN).await;
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn ids_of(answer: &Value) -> Result<Vec<String>, String> {
    let id = |task: &Value| {
        let id = task["id"].as_str().map(str::to_owned);
        id.ok_or_else(|| format!("submit was answered without an id: {task}"))
    };
    match answer["results"].as_array() {
        Some(results) => results.iter().map(|result| id(&result["task"])).collect(),
        None => Ok(vec![id(answer)?]),
    }
}
