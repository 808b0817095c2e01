//! Spend caps on a whole Berth: single tasks by many at once while roles are killed, nodes of runs, and fires.

use crate::doctor::{doctor, of};
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use futures::future::join_all;
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;

/// A core for an hour costs 3.60 units: a quarter of one for a second 250 micro-units. And each task 1000.
const BOOK: &str = r#"{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": 3600000},
    "each": {"task": 1000}}]}"#;
/// The most that [`task`] can cost: two attempts of ten seconds.
const MOST: i64 = 2 * 10 * 250 + 1000;
const LONG: Duration = Duration::from_secs(60);

/// It costs much less than it can.
fn task() -> Value {
    json!({"run": {"noop": {}}, "execution_cap": "10s", "max_attempts": 2})
}

async fn billed(shape: Shape) -> anyhow::Result<(Cluster, Customer)> {
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up_with(&cluster, "acme", &["read", "submit", "admin"]).await?;
    let store = format!(
        "insert into price_book (name, document) values ('eur', '{BOOK}');
        update plan set billing = '{{\"price_book\": \"eur\"}}' where name = 'default'"
    );
    cluster.database().sql(&store).await?;
    Ok((cluster, customer))
}

pub(crate) async fn put(customer: &Customer, path: &str, body: &Value) -> anyhow::Result<Value> {
    let (status, answer) = customer.call("PUT", path, Some(body), None).await?;
    anyhow::ensure!(status == 200 || status == 201, "{path}: {status} {answer}");
    Ok(answer)
}

async fn put_cap(customer: &Customer, name: &str, amount: i64) -> anyhow::Result<Value> {
    let cap = json!({"amount": amount, "currency": "EUR", "period": "month"});
    put(customer, &format!("/v1/spend-caps/{name}"), &cap).await
}

/// Spent, reserved and free.
async fn stands(customer: &Customer, name: &str) -> anyhow::Result<[i64; 3]> {
    let (_, cap) = customer.call("GET", &format!("/v1/spend-caps/{name}"), None, None).await?;
    let number = |field: &str| cap[field].as_i64().with_context(|| cap.to_string());
    Ok([number("spent")?, number("reserved")?, number("free")?])
}

/// Waits until nothing is reserved; what was spent.
async fn all_returned(customer: &Customer, name: &str) -> anyhow::Result<i64> {
    let over = async || {
        let [spent, reserved, _] = stands(customer, name).await.ok()?;
        (reserved == 0).then_some(spent)
    };
    poll::until_some("nothing to be reserved", LONG, over).await
}

async fn healthy(cluster: &Cluster) -> anyhow::Result<()> {
    let (url, amqp) = (cluster.database().owner_url(), cluster.broker().url());
    let (_, report, remarks) = doctor(cluster, url, amqp).await?;
    for check in ["spend_cap_wrong", "usage_counted_wrong", "usage_wrong"] {
        assert_eq!(of(&report, check)["seen"], "ok", "{report} {remarks}");
    }
    Ok(())
}

/// A thousand submits at once, for which a cap has room for 137, while processes are killed.
async fn a_thousand(seed: u64) -> anyhow::Result<()> {
    const ROOM: i64 = 137;
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 2));
    let (mut cluster, customer) = billed(shape).await?;
    put_cap(&customer, "all", ROOM * MOST + MOST / 2).await?;
    let submit = async |number: usize| {
        let (key, task) = (format!("task-{number}"), task());
        let until = clock::monotonic() + LONG;
        loop {
            match customer.call("POST", "/v1/tasks", Some(&task), Some(&key)).await {
                Ok((201, _)) => return Ok(true),
                Ok((402, problem)) => {
                    assert_eq!(problem["code"], "spend_cap_reached", "{problem}");
                    return Ok(false);
                }
                Ok((429 | 500..=599, _)) | Err(_) => {}
                Ok((status, answer)) => anyhow::bail!("{status} {answer}"),
            }
            anyhow::ensure!(clock::monotonic() < until, "no answer for a minute");
            clock::sleep(Duration::from_millis(20)).await;
        }
    };
    // What ends returns its rest, and makes room: nothing runs until all have their answer.
    for executor in cluster.of(Role::Executor) {
        cluster.process(executor)?.stop()?;
    }
    let roles = [Role::Api, Role::Scheduler, Role::ResourceManager].map(|role| cluster.of(role));
    let kills = async {
        for turn in 0..4_u64 {
            clock::sleep(Duration::from_millis(150)).await;
            let of = &roles[usize::try_from((seed + turn) % 3)?];
            let at = of[usize::try_from(turn % 2)?];
            cluster.kill9(at)?;
            cluster.launch(at)?;
        }
        anyhow::Ok(())
    };
    let (answers, killed) = tokio::join!(join_all((0..1000).map(submit)), kills);
    killed?;
    let accepted = answers.into_iter().collect::<anyhow::Result<Vec<bool>>>()?;
    let accepted = accepted.into_iter().filter(|accepted| *accepted).count();
    assert_eq!(i64::try_from(accepted)?, ROOM, "seed {seed}");
    // An api that was killed last may not listen yet.
    let shown = async || stands(&customer, "all").await.ok();
    let shown = poll::until_some("the cap to be shown", LONG, shown).await?;
    assert_eq!(shown, [0, ROOM * MOST, MOST / 2], "seed {seed}");
    for executor in cluster.of(Role::Executor) {
        cluster.process(executor)?.cont()?;
    }
    let spent = all_returned(&customer, "all").await?;
    assert!((ROOM * 1000..ROOM * MOST).contains(&spent), "{spent}");
    // The ledger says the same.
    let counted = async || {
        let (_, costs) = customer.call("GET", "/v1/costs", None, None).await.ok()?;
        let is_same = costs["caps"][0]["spent"] == spent;
        (is_same && costs["month"]["so_far"]["charges"] == spent).then_some(())
    };
    poll::until_some("the ledger to be what was spent", LONG, counted).await?;
    healthy(&cluster).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_submits_as_many_are_accepted_as_fit_also_while_roles_are_killed()
-> anyhow::Result<()> {
    a_thousand(0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_wait_for_room_and_a_fire_without_it_says_so() -> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let (cluster, customer) = billed(shape).await?;
    // A second of noop, so that a node has its room only when another has ended.
    let slow = json!({"run": {"noop": {"sleep": "1s"}}, "execution_cap": "10s", "max_attempts": 2});
    put_cap(&customer, "all", 2 * MOST - 1).await?;
    let node = |after: &[&str]| json!({"after": after, "task": slow});
    let definition = json!({"nodes": {"a": node(&[]), "b": node(&[]), "c": node(&["a", "b"])}});
    put(&customer, "/v1/workflows/nightly", &definition).await?;
    let (status, run) = customer
        .call("POST", "/v1/workflow-runs", Some(&json!({"workflow": "nightly"})), Some("one"))
        .await?;
    anyhow::ensure!(status == 201, "{status} {run}");
    let id = run["id"].as_str().context("an id")?.to_owned();
    let one_runs = async || stands(&customer, "all").await.is_ok_and(|[_, held, _]| held == MOST);
    poll::until("one node to have its room", LONG, one_runs).await?;
    let path = format!("/v1/workflow-runs/{id}");
    let (_, graph) = customer.call("GET", &format!("{path}/graph"), None, None).await?;
    let nodes: Vec<_> = graph["nodes"].as_array().context("nodes")?.iter().take(2).collect();
    // One of the two has its room; the other says for how long it has none.
    let waits = async || {
        for node in &nodes {
            let path = format!("/v1/tasks/{}/explain", node["task"].as_str()?);
            let (_, told) = customer.call("GET", &path, None, None).await.ok()?;
            if told["reasons"][0]["reason"] == "spend_cap" {
                return Some(told["reasons"][0].clone());
            }
        }
        None
    };
    let told = poll::until_some("a node to say that it waits for room", LONG, waits).await?;
    assert_eq!((&told["cap"], &told["needed"]), (&json!("all"), &json!(MOST)), "{told}");
    let ended = async || {
        let (_, run) = customer.call("GET", &path, None, None).await.ok()?;
        (run["state"] != "running").then_some(run)
    };
    let run = poll::until_some("the run to end", LONG, ended).await?;
    assert_eq!(run["state"], "succeeded", "{run}");
    let spent = all_returned(&customer, "all").await?;
    assert!((3 * 1250..2 * MOST).contains(&spent), "{spent}");

    // A cap of one schedule, which has no room; the other fires.
    let each = |task: &Value| json!({"timing": {"specs": [{"every": {"every": "1s", "anchor": "2026-01-01T00:00:00Z"}}]}, "overlap": "allow", "task": task});
    put_cap(&customer, "all", 1000 * MOST).await?;
    let of_poor = json!({"amount": MOST, "currency": "EUR", "period": "day", "schedule": "poor"});
    put(&customer, "/v1/spend-caps/of-poor", &of_poor).await?;
    for name in ["poor", "rich"] {
        let long =
            json!({"run": {"noop": {"sleep": "8s"}}, "execution_cap": "10s", "max_attempts": 2});
        put(&customer, &format!("/v1/schedules/{name}"), &each(&long)).await?;
    }
    let fires = async |name: &str| {
        let path = format!("/v1/schedules/{name}/fires?limit=100");
        let (_, page) = customer.call("GET", &path, None, None).await.ok()?;
        let rows = page["data"].as_array()?.iter();
        Some(
            rows.map(|row| row["outcome"].as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let many = async || fires("poor").await.filter(|rows| rows.len() >= 4);
    let poor = poll::until_some("fires without room", LONG, many).await?;
    let shed = poor.iter().filter(|outcome| *outcome == "shed_spend_cap").count();
    assert_eq!(shed, poor.len() - 1, "{poor:?}");
    let rich = fires("rich").await.context("fires")?;
    assert!(rich.iter().all(|outcome| outcome == "fired" || outcome == "late"), "{rich:?}");
    let (_, limits) = customer.call("GET", "/v1/limits", None, None).await?;
    let warned = async || {
        let (_, limits) = customer.call("GET", "/v1/limits", None, None).await.ok()?;
        let warnings = limits["warnings"].as_array()?.clone();
        let of_poor = |warning: &&Value| warning["detail"]["cap"] == "of-poor";
        let told: Vec<_> =
            warnings.iter().filter(of_poor).map(|one| one["detail"]["percent"].clone()).collect();
        (told.len() >= 3).then_some(told)
    };
    let mut told =
        poll::until_some("to be warned", LONG, warned).await.with_context(|| limits.to_string())?;
    told.sort_by_key(Value::as_i64);
    assert_eq!(told, [50, 80, 100].map(Value::from));
    for name in ["poor", "rich"] {
        customer.call("DELETE", &format!("/v1/schedules/{name}"), None, None).await?;
    }
    all_returned(&customer, "all").await?;
    all_returned(&customer, "of-poor").await?;
    healthy(&cluster).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn ten_seeds_of_a_thousand_submits_while_roles_are_killed() -> anyhow::Result<()> {
        for seed in 1..=10 {
            super::a_thousand(seed).await?;
        }
        Ok(())
    }
}
