//! Workflow runs through all roles while these are killed: each node ends as the reference says, and each run ends.

use anyhow::Context;
use domain::task::State;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::Duration;
use testkit::graphs::{self, Needs, Node, Numbers, Wanted};
use testkit::poll;
use testkit::settings::rounds;

/// All of many graphs have ended.
fn at_last() -> Duration {
    Duration::from_secs(rounds(90, 3600) as u64)
}

const SOON: Duration = Duration::from_secs(30);
/// What a command can do by itself.
const FATES: [State; 2] = [State::Failed, State::Aborted];

/// What a node has besides its edges. `from` is a parent that must succeed, and returns its place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Extra {
    None,
    If { from: usize, holds: bool },
    Value { from: usize, is_there: bool },
    Each { items: usize },
    Wait,
}

/// Gives some nodes more than edges, and the ends that come of it.
fn embellish(numbers: &mut Numbers, graph: &mut [Node]) -> Vec<Extra> {
    let mut extras: Vec<Extra> = Vec::new();
    for node in graph.iter_mut() {
        let is_command = |place: usize| {
            matches!(extras[place], Extra::None | Extra::If { .. } | Extra::Value { .. })
        };
        let must_succeed = |(parent, wanted): &(usize, Wanted)| {
            (*wanted == Wanted::Success && node.needs == Needs::All && is_command(*parent))
                .then_some(*parent)
        };
        let from = node.parents.iter().find_map(must_succeed);
        let extra = match (numbers.below(6), from) {
            (0, Some(from)) => Extra::If { from, holds: numbers.below(2) == 0 },
            (1, Some(from)) => Extra::Value { from, is_there: numbers.below(3) > 0 },
            (2, _) => Extra::Each { items: numbers.below(4) },
            (3, _) => Extra::Wait,
            _ => Extra::None,
        };
        node.fate = match extra {
            Extra::If { holds: false, .. } => State::Skipped,
            Extra::Value { is_there: false, .. } => State::Failed,
            Extra::Each { items: 0 } | Extra::Wait => State::Succeeded,
            Extra::Each { .. } if node.fate != State::Succeeded => State::Failed,
            _ => node.fate,
        };
        extras.push(extra);
    }
    extras
}

fn definition(graph: &[Node], extras: &[Extra]) -> Value {
    let name = |place: usize| format!("n{place}");
    let mut nodes = Map::new();
    for (place, (node, extra)) in graph.iter().zip(extras).enumerate() {
        let exit = match node.fate {
            State::Failed => "exit 1",
            State::Aborted => "exit 7",
            _ => "exit 0",
        };
        let script = format!(
            "echo \"{{\\\"n\\\": {place}, \\\"value\\\": \\\"$A\\\"}}\" > $BERTH_RESULT; {exit}"
        );
        let mut task =
            json!({"run": {"command": {"argv": ["bash", "-c", script], "env": {"A": "x"}}}});
        let mut one = json!({});
        match extra {
            Extra::None => {}
            Extra::If { from, holds } => {
                let wanted = if *holds { *from } else { from + 1 };
                one["if"] = json!({"$from": name(*from), "pointer": "/n", "eq": wanted});
            }
            Extra::Value { from, is_there } => {
                let pointer = if *is_there { "/n" } else { "/none" };
                task["run"]["command"]["env"]["A"] =
                    json!({"$from": name(*from), "pointer": pointer});
            }
            Extra::Each { items } => {
                one["for_each"] = (0..*items).collect();
                task["run"]["command"]["env"]["A"] = json!({"$item": ""});
            }
            Extra::Wait => one["wait"] = json!({"delay": "20ms"}),
        }
        if *extra != Extra::Wait {
            one["task"] = task;
        }
        if !node.parents.is_empty() {
            let parents = node.parents.iter();
            one["after"] = parents
                .map(|(parent, wanted)| json!({"node": name(*parent), "on": wanted.word()}))
                .collect();
            one["join"] = match node.needs {
                Needs::All => json!("all"),
                Needs::Any => json!("any"),
                Needs::AtLeast(wanted) => json!({"at_least": wanted}),
            };
        }
        nodes.insert(name(place), one);
    }
    let defaults = json!({"max_attempts": 1, "retry": {"abort_on_exit_codes": [7]}, "resources": {"cpu_millis": 10, "memory_mib": 16}});
    json!({"nodes": nodes, "defaults": defaults})
}

/// How the run of a graph whose nodes ended so ends.
fn run_ends(graph: &[Node], ends: &[State]) -> &'static str {
    let fine = |place: usize| {
        let handled = graph.iter().flat_map(|node| &node.parents).any(|(parent, wanted)| {
            *parent == place
                && *wanted == Wanted::Failure
                && [State::Failed, State::Aborted].contains(&ends[place])
        });
        handled || [State::Succeeded, State::Skipped].contains(&ends[place])
    };
    if (0..graph.len()).all(fine) { "succeeded" } else { "failed" }
}

/// Starts a run, again and again under one key until it is answered; its id.
async fn start(customer: &Customer, body: &Value, key: &str) -> anyhow::Result<String> {
    let until = runtime::clock::monotonic() + Duration::from_secs(60);
    loop {
        match customer.call("POST", "/v1/workflow-runs", Some(body), Some(key)).await {
            Ok((201, run)) => return Ok(run["id"].as_str().context("an id")?.to_owned()),
            Ok((status, problem)) if status < 500 => anyhow::bail!("{status}: {problem}"),
            _ => anyhow::ensure!(runtime::clock::monotonic() < until, "a run was never answered"),
        }
    }
}

/// The graph of a run that has ended.
async fn ended(customer: &Customer, run: &str, limit: Duration) -> anyhow::Result<Value> {
    let path = format!("/v1/workflow-runs/{run}/graph");
    poll::until_some(&format!("{run} to end"), limit, || async {
        let (status, graph) = customer.call("GET", &path, None, None).await.ok()?;
        (status == 200 && !graph["run"]["finished_at"].is_null()).then_some(graph)
    })
    .await
}

fn states(graph: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    nodes.map(|node| (text(&node["name"]), text(&node["state"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_end_as_the_reference_says_while_roles_are_killed() -> anyhow::Result<()> {
    let shape = Shape::default()
        .with(Role::Scheduler, 2)
        .with(Role::ResourceManager, 2)
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "5s")
        .set("BERTH_SCHEDULER__BATCHER_LEASE", "2s");
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let mut numbers = Numbers::new(7);
    let mut all = Vec::new();
    for round in 0..rounds(12, 500) {
        // With `SCALE=1` every tenth is a large one.
        let most = if round % 10 == 9 { rounds(25, 396) } else { 25 };
        let nodes = 5 + numbers.below(most);
        let mut graph = graphs::random(&mut numbers, nodes, &FATES);
        let extras = embellish(&mut numbers, &mut graph);
        let body = json!({"definition": definition(&graph, &extras)});
        let run = start(&customer, &body, &format!("run-{round}")).await?;
        all.push((graph, extras, run));
        let role = [Role::Scheduler, Role::ResourceManager, Role::Api][round % 3];
        let running = cluster.of(role);
        let at = running[numbers.below(running.len())];
        cluster.kill9(at)?;
        cluster.launch(at)?;
        cluster.ready(at).await?;
    }
    for (graph, extras, run) in &all {
        let shown = ended(&customer, run, at_last()).await?;
        let ends = graphs::ends(graph);
        let found: HashMap<String, String> = states(&shown).into_iter().collect();
        for (place, wanted) in ends.iter().enumerate() {
            let found = &found[&format!("n{place}")];
            assert_eq!(
                found,
                wanted.as_str(),
                "{run}, node {place} ({:?} {:?}): {shown}",
                graph[place],
                extras[place]
            );
        }
        assert_eq!(shown["run"]["state"], run_ends(graph, &ends), "{shown}");
    }
    Oracle::of(&cluster).drained(SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_reaches_its_node_whether_it_comes_before_at_once_or_after() -> anyhow::Result<()>
{
    let cluster = Cluster::start(Shape::default().with(Role::Scheduler, 2)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let definition = json!({"nodes": {"first": {"task": {"run": {"noop": {}}}},
        "wait": {"after": ["first"], "wait": {"signal": {"$input": "/key"}, "expires": "1h"}},
        "last": {"after": ["wait"], "task": {"run": {"noop": {}}}}}});
    let send = async |round: usize| {
        let body = json!({"payload": round});
        let (status, sent) =
            customer.call("POST", &format!("/v1/signals/key-{round}"), Some(&body), None).await?;
        anyhow::ensure!(status == 200, "{status}: {sent}");
        Ok(())
    };
    let begin = async |round: usize| {
        let body = json!({"definition": definition, "input": {"key": format!("key-{round}")}});
        start(&customer, &body, &format!("run-{round}")).await
    };
    let mut runs = Vec::new();
    for round in 0..30 {
        let run = match round % 3 {
            0 => {
                send(round).await?;
                begin(round).await?
            }
            // At some time while the node comes to wait.
            1 => {
                let run = begin(round).await?;
                send(round).await?;
                run
            }
            _ => {
                let (run, sent) = tokio::join!(begin(round), send(round));
                sent?;
                run?
            }
        };
        runs.push((round, run));
    }
    for (round, run) in runs {
        let graph = ended(&customer, &run, SOON).await?;
        assert_eq!(graph["run"]["state"], "succeeded", "{graph}");
        let nodes = graph["nodes"].as_array().context("nodes")?;
        let wait = nodes.iter().find(|node| node["name"] == "wait").context("the node")?;
        let task = wait["task"].as_str().context("an id")?;
        let (_, result) =
            customer.call("GET", &format!("/v1/tasks/{task}/result"), None, None).await?;
        assert_eq!(result, json!(round));
    }
    Oracle::of(&cluster).drained(SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_stopped_by_its_owner_or_its_deadline() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let nodes = json!({
        "runs": {"task": {"run": {"noop": {"sleep": "1h"}}}},
        "any": {"after": [{"node": "runs", "on": "finished"}], "task": {"run": {"noop": {}}}},
        "below": {"after": ["any"], "task": {"run": {"noop": {}}}},
    });
    let both = [json!({"nodes": nodes}), json!({"nodes": nodes, "deadline": "2s"})];
    let mut runs = Vec::new();
    for (nth, definition) in both.iter().enumerate() {
        runs.push(
            start(&customer, &json!({"definition": definition}), &format!("stop-{nth}")).await?,
        );
    }
    let cancel = format!("/v1/workflow-runs/{}/cancel", runs[0]);
    for wanted in ["requested", "already_requested"] {
        let (_, cancelled) = customer.call("POST", &cancel, None, None).await?;
        assert!(
            [json!(wanted), json!("already_ended")].contains(&cancelled["cancel"]),
            "{cancelled}"
        );
    }
    for (run, state) in runs.iter().zip(["cancelled", "expired"]) {
        let graph = ended(&customer, run, SOON).await?;
        assert_eq!(graph["run"]["state"], state, "{graph}");
        assert!(states(&graph).iter().all(|(_, state)| state == "cancelled"), "{graph}");
    }
    Oracle::of(&cluster).drained(SOON).await
}

/// The last parents of a node end at the same instant on several resource managers, and the run is cancelled at about that instant.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_at_the_instant_of_the_ends_agrees_with_its_answer() -> anyhow::Result<()> {
    let shape = Shape::default().with(Role::Scheduler, 2).with(Role::ResourceManager, 2);
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let mut numbers = Numbers::new(11);
    let noop = json!({"task": {"run": {"noop": {"sleep": "20ms"}}, "max_attempts": 1}});
    let last = json!({"after": ["a", "b", "c"], "task": {"run": {"noop": {}}, "max_attempts": 1}});
    let body = json!({"definition": {"nodes": {"a": noop, "b": noop, "c": noop, "last": last}}});
    let mut ends = HashMap::<String, usize>::new();
    for round in 0..rounds(40, 3000) {
        let run = start(&customer, &body, &format!("race-{round}")).await?;
        runtime::clock::sleep(Duration::from_millis(numbers.below(200) as u64)).await;
        let path = format!("/v1/workflow-runs/{run}/cancel");
        let (status, cancelled) = customer.call("POST", &path, None, None).await?;
        anyhow::ensure!([200, 202].contains(&status), "{status}: {cancelled}");
        let shown = ended(&customer, &run, SOON).await?;
        let state = shown["run"]["state"].as_str().context("no state")?.to_owned();
        let nodes = states(&shown);
        let all = nodes.iter().all(|(_, state)| state == "succeeded");
        assert_eq!(state == "succeeded", all, "{shown}");
        assert!(all || state == "cancelled", "{shown}");
        if cancelled["cancel"] == "already_ended" {
            assert!(all, "{cancelled} {shown}");
        }
        *ends.entry(state).or_default() += 1;
    }
    assert_eq!(ends.len(), 2, "some of both: {ends:?}");
    Oracle::of(&cluster).drained(SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_run_again_in_parts_and_the_results_of_the_others_stay() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let echo = |script: &str, value: Value| json!({"run": {"command": {"argv": ["bash", "-c", script], "env": {"A": value}}}, "max_attempts": 1});
    let returns = "echo \"[\\\"$A\\\"]\" > $BERTH_RESULT";
    let nodes = json!({
        "a": {"task": echo(returns, json!("one"))},
        "b": {"after": ["a"], "task": echo("[ -e /tmp/none ] && exit 0; exit 1", json!({"$from": "a", "pointer": "/0"}))},
        "c": {"after": ["b"], "task": echo(returns, json!({"$from": "a", "pointer": "/0"}))},
        "each": {"after": ["a"], "for_each": {"$from": "a"}, "task": echo(returns, json!({"$item": ""}))},
        "gathered": {"after": ["each"], "task": echo(returns, json!({"$from": "each", "pointer": "/0/0"}))},
    });
    let first = start(&customer, &json!({"definition": {"nodes": nodes}}), "first").await?;
    let before = ended(&customer, &first, SOON).await?;
    let wanted = [
        ("a", "succeeded"),
        ("b", "failed"),
        ("c", "skipped"),
        ("each", "succeeded"),
        ("gathered", "succeeded"),
    ];
    let wanted = wanted.map(|(node, state)| (node.to_owned(), state.to_owned()));
    assert_eq!(states(&before), wanted, "{before}");
    assert_eq!(
        (&before["run"]["state"], &before["run"]["reason"]),
        (&json!("failed"), &json!("`b` failed"))
    );
    let again = async |body: Value, tasks: u64| {
        let path = format!("/v1/workflow-runs/{first}/rerun");
        let (status, run) = customer.call("POST", &path, Some(&body), None).await?;
        anyhow::ensure!(
            status == 201 && run["tasks"] == tasks && run["rerun_of"] == first,
            "{status}: {run}"
        );
        ended(&customer, run["id"].as_str().context("an id")?, SOON).await
    };
    let failed = again(json!({}), 2).await?;
    assert_eq!(states(&failed), wanted, "{failed}");
    let task = |graph: &Value, place: usize| graph["nodes"][place]["task"].clone();
    assert_eq!(
        (task(&failed, 0), task(&failed, 3)),
        (task(&before, 0), task(&before, 3)),
        "taken over"
    );
    assert!(task(&failed, 1) != task(&before, 1) && failed["nodes"][0]["taken_over"] == true);
    let one = again(json!({"nodes": ["gathered"]}), 1).await?;
    assert_eq!(
        (states(&one), &one["run"]["state"]),
        (wanted.to_vec(), &json!("failed")),
        "what is taken over counts"
    );
    let below = again(json!({"nodes": ["each"], "below": true}), 2).await?;
    assert_eq!(below["nodes"][3]["items"].as_array().map(Vec::len), Some(1), "{below}");
    let result = format!("/v1/tasks/{}/result", task(&below, 4).as_str().context("an id")?);
    let (_, result) = customer.call("GET", &result, None, None).await?;
    assert_eq!(result, json!(["one"]));
    Oracle::of(&cluster).drained(SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_of_a_run_run_at_a_time_than_it_allows() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let nodes: Map<String, Value> = (0..8)
        .map(|nth| {
            (
                format!("n{nth}"),
                json!({"task": {"run": {"noop": {"sleep": "500ms"}}, "tier": "basic"}}),
            )
        })
        .collect();
    let body = json!({"definition": {"nodes": nodes, "max_parallel": 2}});
    let run = start(&customer, &body, "parallel").await?;
    let (_, limits) = customer.call("GET", "/v1/concurrency-limits", None, None).await?;
    assert_eq!(
        (&limits["data"][0]["key"], &limits["data"][0]["running"]),
        (&json!(run), &json!(2)),
        "{limits}"
    );
    let graph = ended(&customer, &run, at_last()).await?;
    let mut marks: Vec<(String, i32)> = Vec::new();
    for node in graph["nodes"].as_array().into_iter().flatten() {
        let text = |field: &str| node[field].as_str().unwrap_or_default().to_owned();
        marks.extend([(text("started_at"), 1), (text("finished_at"), -1)]);
    }
    // What ends at an instant is gone before what begins at it.
    marks.sort();
    let mut running = 0;
    for (_, change) in marks {
        running += change;
        assert!(running <= 2, "{graph}");
    }
    let (_, limits) = customer.call("GET", "/v1/concurrency-limits", None, None).await?;
    assert_eq!(limits["data"], json!([]), "it goes with the run");
    Ok(())
}
