//! Graphs of tasks run through all roles while these are killed: each ends in the states of the reference, and each task starts once.

use anyhow::Context;
use domain::task::State;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::graphs::{self, Needs, Node, Numbers};
use testkit::poll;
use testkit::settings::rounds;

/// All of many graphs have ended.
fn at_last() -> Duration {
    Duration::from_secs(rounds(90, 3600) as u64)
}

const SOON: Duration = Duration::from_secs(10);
/// What a command can do by itself.
const FATES: [State; 2] = [State::Failed, State::Aborted];

fn task_of(node: &Node) -> Value {
    let exit = match node.fate {
        State::Failed => "exit 1",
        State::Aborted => "exit 7",
        _ => "exit 0",
    };
    let mut task = json!({
        "run": {"command": {"argv": ["bash", "-c", exit]}}, "max_attempts": 1, "retry": {"abort_on_exit_codes": [7]},
        "resources": {"cpu_millis": 10, "memory_mib": 16}
    });
    if !node.parents.is_empty() {
        let parents = node
            .parents
            .iter()
            .map(|(parent, wanted)| json!({"task": parent, "on": wanted.word()}));
        task["depends_on"] = parents.collect();
        task["join"] = match node.needs {
            Needs::All => json!("all"),
            Needs::Any => json!("any"),
            Needs::AtLeast(wanted) => json!({"at_least": wanted}),
        };
    }
    task
}

/// Each role with a short term, so that what stands behind a death comes soon.
fn shape() -> Shape {
    Shape::default()
        .with(Role::Scheduler, 2)
        .with(Role::ResourceManager, 2)
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "5s")
        .set("BERTH_SCHEDULER__BATCHER_LEASE", "2s")
}

#[tokio::test(flavor = "multi_thread")]
async fn graphs_end_as_the_reference_says_while_roles_are_killed() -> anyhow::Result<()> {
    let mut cluster = Cluster::start(shape()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let mut numbers = Numbers::new(42);
    let mut all = Vec::new();
    for round in 0..rounds(12, 500) {
        // With `SCALE=1` every tenth is a large one.
        let most = if round % 10 == 9 { rounds(30, 396) } else { 30 };
        let nodes = 5 + numbers.below(most);
        let graph = graphs::random(&mut numbers, nodes, &FATES);
        let tasks: Vec<Value> = graph.iter().map(task_of).collect();
        let ids = customer.submit_batch(&tasks, &format!("graph-{round}")).await?;
        all.push((graph, ids));
        let role = [Role::Scheduler, Role::ResourceManager, Role::Api][round % 3];
        let running = cluster.of(role);
        let at = running[numbers.below(running.len())];
        cluster.kill9(at)?;
        cluster.launch(at)?;
        cluster.ready(at).await?;
    }
    Oracle::of(&cluster).drained(at_last()).await?;
    for (number, (graph, ids)) in all.iter().enumerate() {
        for (place, (wanted, id)) in graphs::ends(graph).into_iter().zip(ids).enumerate() {
            let task = customer.get(id).await?;
            let found: State = serde_json::from_value(task["state"].clone())?;
            assert_eq!(found, wanted, "graph {number}, node {place} ({:?}): {task}", graph[place]);
            starts_after_its_parents(&customer, &task).await?;
        }
    }
    Ok(())
}

/// Of a task that started, enough parents had ended before.
async fn starts_after_its_parents(customer: &Customer, task: &Value) -> anyhow::Result<()> {
    let (Some(started), Some(parents)) =
        (task["started_at"].as_str(), task["depends_on"].as_array())
    else {
        return Ok(());
    };
    let mut ended_before = 0;
    for parent in parents {
        let parent = customer.get(parent["task"].as_str().context("an id")?).await?;
        ended_before +=
            usize::from(parent["finished_at"].as_str().is_some_and(|ended| ended <= started));
    }
    let needs = match &task["join"] {
        Value::Object(join) => usize::try_from(join["at_least"].as_u64().context("a number")?)?,
        word if word == "any" => 1,
        _ => parents.len(),
    };
    assert!(ended_before >= needs.min(parents.len()), "{task}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_starts_soon_after_its_parent_and_a_cancel_skips_what_needs_it()
-> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let long = json!({"run": {"noop": {"sleep": "1h"}}});
    let parent = customer.submit_until_answered(&long, "parent").await?;
    let after = |on: &str| json!({"run": {"noop": {}}, "depends_on": [{"task": parent, "on": on}]});
    let [success, any] = [after("succeeded"), after("finished")];
    let skipped = customer.submit_until_answered(&success, "skipped").await?;
    let runs = customer.submit_until_answered(&any, "runs").await?;
    let below = json!({"run": {"noop": {}}, "depends_on": [skipped]});
    let below = customer.submit_until_answered(&below, "below").await?;
    poll::until("the parent to run", SOON, || async {
        customer.get(&parent).await.is_ok_and(|task| task["state"] == "running")
    })
    .await?;
    let (status, _) =
        customer.call("POST", &format!("/v1/tasks/{parent}/cancel"), None, None).await?;
    assert_eq!(status, 202);
    Oracle::of(&cluster).drained(SOON).await?;
    for (id, wanted) in
        [(&parent, "cancelled"), (&skipped, "skipped"), (&runs, "succeeded"), (&below, "skipped")]
    {
        let task = customer.get(id).await?;
        assert_eq!(task["state"], wanted, "{task}");
    }
    let reason = customer.get(&below).await?["reason"].clone();
    assert_eq!(reason, format!("its parent `{skipped}` did not end as `depends_on` asks"));
    Ok(())
}
