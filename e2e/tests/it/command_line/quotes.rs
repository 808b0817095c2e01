//! Quotes by the command line, held against what is reserved and what it costs in the end.

use super::Shell;
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;

/// A core for an hour costs 3600 units; a task that waits for a day a half.
const BOOK: &str = r#"{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": 3600000000},
    "each": {"task": 1000000}, "discounts": {"tolerance": [{"at_least_s": 86400, "percent": 50}]}}]}"#;

/// An attempt is shown within five seconds of its end; and whatever else uses this Postgres may hold the count up.
const SHOWN: Duration = Duration::from_secs(30);

const COMMAND: [&str; 8] =
    ["--execution-cap", "5s", "--max-attempts", "2", "--", "bash", "-c", "sleep 0.3"];

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_costs_no_more_than_was_quoted_and_is_what_the_next_quote_expects()
-> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default().with(Role::Executor, 1)).await?;
    let customer = Customer::sign_up_with(&cluster, "acme", &["read", "submit", "admin"]).await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let store = format!(
        "insert into price_book (name, document) values ('eur', '{BOOK}');
        update plan set billing = '{{\"price_book\": \"eur\"}}' where name = 'default'"
    );
    cluster.database().sql(&store).await?;
    let cap = json!({"amount": 100_000_000, "currency": "EUR", "period": "month"});
    customer.call("PUT", "/v1/spend-caps/all", Some(&cap), None).await?;

    let quote = async |arguments: &[&str]| {
        let all: Vec<&str> =
            ["quote", "--output", "json"].into_iter().chain(arguments.iter().copied()).collect();
        let (code, out, err) = shell.berth(&all, "").await?;
        anyhow::ensure!(code == 0, "{arguments:?}: {err}");
        Ok(serde_json::from_str::<Value>(&out)?)
    };
    let of_task: Vec<&str> = ["task"].into_iter().chain(COMMAND).collect();
    let quoted = quote(&of_task).await?;
    let most = quoted["most"].as_i64().context("an amount")?;
    // A quarter of a core for ten seconds, and the task.
    assert_eq!(most, 2 * 5 * 250_000 + 1_000_000, "{quoted}");
    assert_eq!(quoted["estimate"], Value::Null);
    let room = async || {
        let start = quote(&of_task).await.ok()?["expected_start"].clone();
        (!start["to"].is_null()).then_some(start)
    };
    let start = poll::until_some("the executor's room to be told", SHOWN, room).await?;
    assert!(start["reason"].as_str().context("a reason")?.contains("has room"), "{start}");

    let submit: Vec<&str> = ["submit", "--follow"].into_iter().chain(COMMAND).collect();
    let (code, _, err) = shell.berth(&submit, "").await?;
    assert_eq!(code, 0, "{err}");
    let reserved = async || {
        let (_, cap) = customer.call("GET", "/v1/spend-caps/all", None, None).await.ok()?;
        (cap["reserved"] == 0).then(|| cap["spent"].as_i64())?
    };
    let spent = poll::until_some("the rest to be returned", SHOWN, reserved).await?;
    assert!(spent > 1_000_000 && spent <= most, "{spent} of {most}");

    // The next one is expected to be like it.
    let likely = async || {
        let estimate = quote(&of_task).await.ok()?["estimate"].clone();
        (!estimate.is_null()).then_some(estimate)
    };
    let estimate = poll::until_some("the attempt to be counted", SHOWN, likely).await?;
    assert_eq!((&estimate["amount"], &estimate["attempts"]), (&json!(spent), &json!(1)));

    let (code, text, err) = shell.berth(&[&["quote"][..], &of_task[..]].concat(), "").await?;
    assert_eq!(code, 0, "{err}");
    for part in
        ["at most   3.50 EUR", "1 attempts of this tier", "--delay-tolerance 24h", "SPEND CAP"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    a_schedule_and_a_workflow(&shell, quote).await
}

/// By their names, by flags and by files.
async fn a_schedule_and_a_workflow(
    shell: &Shell,
    quote: impl AsyncFn(&[&str]) -> anyhow::Result<Value>,
) -> anyhow::Result<()> {
    let daily = ["--cron", "0 9 * * *", "--execution-cap", "4s", "--noop"];
    let put: Vec<&str> = ["schedule", "put", "daily"].into_iter().chain(daily).collect();
    let (code, _, err) = shell.berth(&put, "").await?;
    assert_eq!(code, 0, "{err}");
    let stored = quote(&["schedule", "daily", "--month", "2027-04"]).await?;
    assert_eq!((&stored["tasks"], &stored["most"]), (&json!(30), &json!(30 * 2_000_000)));
    let typed: Vec<&str> = ["schedule", "--month", "2027-04"].into_iter().chain(daily).collect();
    assert_eq!(quote(&typed).await?["most"], stored["most"]);
    let usual = quote(&["schedule", "daily"]).await?;
    assert!(usual["month"]["fires"].as_u64().context("fires")? >= 28, "{usual}");

    let file = |name: &str, text: &str| {
        let path = shell.home.path().join(name);
        std::fs::write(&path, text)?;
        anyhow::Ok(path.to_string_lossy().into_owned())
    };
    let task = r#"{"run": {"noop": {}}, "execution_cap": "4s"}"#;
    let lines = file("tasks.ndjson", &format!("{task}\n{task}\n"))?;
    assert_eq!(quote(&["task", "--file", &lines]).await?["most"], 2 * 2_000_000);
    let definition = "nodes:\n  a: {task: {run: {noop: {}}, execution_cap: 4s}}\n  b: {after: [a], wait: {approval: true}}\n";
    let definition = file("load.yaml", definition)?;
    let run = quote(&["workflow", &definition]).await?;
    assert_eq!((&run["most"], &run["lines"][0]["name"]), (&json!(2_000_000), &json!("a")), "{run}");
    let (code, _, err) = shell.berth(&["quote", "schedule", "none"], "").await?;
    assert_eq!(code, 3, "{err}");
    let (code, _, err) =
        shell.berth(&["quote", "task", "--execution-cap", "9600h", "--noop"], "").await?;
    assert_eq!((code, err.contains("execution_cap")), (2, true), "{err}");
    Ok(())
}
