//! Tasks whose driver no executor of their pool has: they are not handed out, say why, and run when one that has it joins.

use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;

/// One process of each role; of the executor's drivers only `noop`.
async fn of_noops() -> anyhow::Result<Cluster> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    Cluster::start(shape.set("BERTH_EXECUTOR__DRIVERS", "noop")).await
}

async fn has_succeeded(customer: &Customer, ids: &[String]) -> bool {
    let mut states = Vec::new();
    for id in ids {
        let task = customer.get(id).await;
        states.push(task.map(|task| task["state"].clone()).unwrap_or_default());
    }
    states.iter().all(|state| *state == "succeeded")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_an_executor_of_its_driver_waits_untried_and_runs_when_one_joins()
-> anyhow::Result<()> {
    let mut cluster = of_noops().await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    // More than the one executor holds at once, and before the others.
    let command = json!({ "run": { "command": { "argv": ["true"] } }, "priority": 10 });
    let commands = customer.submit_batch(&vec![command; 100], "commands").await?;
    let noop = json!({ "run": { "noop": {} } });
    let noops = customer.submit_batch(&vec![noop; 100], "noops").await?;
    let done = async || has_succeeded(&customer, &noops).await;
    poll::until("what has a driver to pass what has none", Duration::from_secs(10), done).await?;
    let explain = format!("/v1/tasks/{}/explain", commands[0]);
    let explained = async || -> anyhow::Result<Value> {
        Ok(customer.call("GET", &explain, None, None).await?.1["reasons"].clone())
    };
    assert_eq!(explained().await?, json!([{ "reason": "no_driver", "driver": "command" }]));
    clock::sleep(Duration::from_secs(3)).await;
    let oracle = Oracle::of(&cluster);
    let tries = "select coalesce(sum(dispatch_epoch + attempt), 0)::bigint from task";
    assert_eq!(oracle.number(tries).await?, 0, "one was handed out");
    assert_eq!(oracle.number("select count(*) from task where state = 'ready'").await?, 100);
    cluster.set("BERTH_EXECUTOR__DRIVERS", "command");
    cluster.join(Role::Executor).await?;
    let joined = clock::monotonic();
    let done = async || has_succeeded(&customer, &commands).await;
    poll::until("the commands to run", Duration::from_secs(20), done).await?;
    eprintln!("100 commands ended {:?} after their executor had joined", joined.elapsed());
    let oracle = Oracle::of(&cluster);
    let again = "select count(*) from task_history where attempt <> 1";
    assert_eq!(oracle.number(again).await?, 0);
    assert_eq!(oracle.number("select count(*) from attempt where not charged").await?, 0);
    Ok(())
}
