//! Latency from the end of the last parent to the start of its child on an idle system: of tasks with `depends_on`, and of nodes of workflow
//! runs, in turn.
//!
//! The end is the one that the parent's task shows: by the database clock, when the statement that stores it begins. The start is that
//! of the driver.

use super::WARM_UP_S;
use super::event_times::{EventTimes, FirstTimes, STARTS_LOGGED};
use super::graph::Graph;
use crate::clock_offset;
use crate::http::Connection;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::of;
use anyhow::{Context, ensure};
use bytes::Bytes;
use runtime::clock;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Between two submits, one of either kind in turn: a family has mostly ended when the next one comes.
const EVERY: Duration = Duration::from_millis(25);
/// Three tasks and one that waits for them.
const TASKS: &str = r#"{"tasks":[{"ref":"a","run":{"noop":{"sleep":"0s"}}},{"ref":"b","run":{"noop":{"sleep":"0s"}}},
    {"ref":"c","run":{"noop":{"sleep":"0s"}}},{"run":{"noop":{"sleep":"0s"}},"depends_on":["a","b","c"]}]}"#;
const FAMILY: u64 = 4;

/// Ids of tasks without their prefix, the child last.
type Family = Vec<String>;

/// What was submitted.
#[derive(Default)]
struct Sent {
    tasks: Vec<Family>,
    runs: Vec<String>,
}

/// For `length`, after the warm-up.
pub async fn child_start(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::of(Rig::shape(1).set(STARTS_LOGGED.0, STARTS_LOGGED.1)).await?;
    let mut connections = rig.connections(1).await?;
    let warm = submit(&mut connections[0], Duration::from_secs(WARM_UP_S.into())).await?;
    let sent = submit(&mut connections[0], length).await?;
    rig.drained(Duration::from_secs(30)).await?;
    let runs = (warm.runs.len() + sent.runs.len()) as u64;
    let batches = (warm.tasks.len() + sent.tasks.len()) as u64;
    rig.runs_ended_well(runs, FAMILY).await?;
    rig.ended_well((runs + batches) * FAMILY).await?;
    let offset = clock_offset::measure(rig.database_url()).await?;
    let started = EventTimes::read(&mut rig)?.started;
    let ended = ends(&rig).await?;
    let nodes = tasks_of(&rig, &sent.runs).await?;
    let wait = |family: &Family| {
        let at = started_after(family, &started, &ended)? + offset.ms;
        ensure!(at > -offset.uncertainty_ms, "a child started {at} ms after its parent");
        Ok(at)
    };
    let of_tasks = sent.tasks.iter().map(wait).collect::<anyhow::Result<Vec<_>>>()?;
    let of_nodes = nodes.iter().map(wait).collect::<anyhow::Result<Vec<_>>>()?;
    Ok([
        ("child_start_p50_ms", "child_start_p99_ms", of_tasks),
        ("node_start_p50_ms", "node_start_p99_ms", of_nodes),
    ]
    .into_iter()
    .flat_map(|(p50, p99, waits)| {
        let longest = Measured::new(p99, of(&waits, 0.99))
            .with("p95_ms", of(&waits, 0.95))
            .with("max_ms", of(&waits, 1.0))
            .with("count", waits.len() as f64);
        [Measured::new(p50, of(&waits, 0.5)), longest]
    })
    .collect())
}

async fn submit(api: &mut Connection, length: Duration) -> anyhow::Result<Sent> {
    let run = Graph::family().body;
    let count = (length.as_millis() / EVERY.as_millis()) as u32;
    let began = clock::monotonic();
    let mut sent = Sent::default();
    for number in 0..count {
        clock::sleep_until(began + EVERY * number).await;
        if number % 2 == 0 {
            let body = Bytes::from_static(TASKS.as_bytes());
            let answer: Value =
                serde_json::from_slice(&api.post("/v1/tasks/batch", body, 200).await?)?;
            let results = answer["results"].as_array().context("a batch without results")?;
            let ids = results.iter().map(|item| bare(&item["task"]["id"], "task_"));
            sent.tasks.push(ids.collect::<anyhow::Result<_>>()?);
        } else {
            let answer = api.post("/v1/workflow-runs", run.clone(), 201).await?;
            let answer: Value = serde_json::from_slice(&answer)?;
            sent.runs.push(bare(&answer["id"], "run_")?);
        }
    }
    Ok(sent)
}

fn bare(id: &Value, prefix: &str) -> anyhow::Result<String> {
    let id = id.as_str().and_then(|id| id.strip_prefix(prefix));
    id.map(str::to_owned).with_context(|| format!("an answer without a {prefix} id"))
}

/// When each task ended, ms since 1970 by the database clock.
async fn ends(rig: &Rig) -> anyhow::Result<HashMap<String, f64>> {
    let rows = rig
        .sql("select replace(task_id::text, '-', ''), extract(epoch from ended_at) * 1000 from attempt")
        .await?;
    let row = |row: &str| {
        let (id, at) = row.split_once('|').with_context(|| format!("`{row}` is no row"))?;
        Ok((id.to_owned(), at.parse()?))
    };
    rows.lines().map(row).collect()
}

/// The tasks of the nodes of each run, in the order of the definition.
async fn tasks_of(rig: &Rig, runs: &[String]) -> anyhow::Result<Vec<Family>> {
    let rows = rig
        .sql("select replace(id::text, '-', ''), replace(array_to_string(tasks, ','), '-', '') from workflow_run")
        .await?;
    let known: HashMap<&str, &str> = rows.lines().filter_map(|row| row.split_once('|')).collect();
    let tasks = |run: &String| {
        let tasks = known.get(&**run).with_context(|| format!("there is no run {run}"))?;
        Ok(tasks.split(',').map(str::to_owned).collect())
    };
    runs.iter().map(tasks).collect()
}

/// Milliseconds from the last end of a parent to the start of the child, by two clocks.
fn started_after(
    family: &Family,
    started: &FirstTimes,
    ended: &HashMap<String, f64>,
) -> anyhow::Result<f64> {
    ensure!(family.len() as u64 == FAMILY, "{family:?} are not {FAMILY}");
    let (child, parents) = family.split_last().context("a family without a child")?;
    let mut last = f64::MIN;
    for parent in parents {
        let end = ended.get(parent).with_context(|| format!("no attempt of {parent}"))?;
        last = last.max(*end);
    }
    Ok(started.of(&format!("task_{child}"))? - last)
}
