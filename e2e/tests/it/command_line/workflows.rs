//! Workflows by command: from a file to a run that has ended.

use super::Shell;
use anyhow::Context;
use e2e::{Cluster, Customer, Shape};
use serde_json::Value;
use std::time::Duration;
use testkit::poll::until_some;

/// Two nodes, of which the second gets a value of the first.
const LOAD: &str = r#"
description: what a person would write
nodes:
  zulu:
    task:
      run: {command: {argv: [bash, -c, 'echo "{\"day\": \"monday\"}" > $BERTH_RESULT']}}
  load:
    after: [zulu]
    task:
      run: {command: {argv: [bash, -c, 'echo "loads $DAY"', no], env: {DAY: {$from: zulu, pointer: /day}}}}
  repair:
    after:
      - {node: load, on: failed}
    task: {run: {noop: {}}}
"#;

/// A signal and a person, and then a node that fails until its file exists.
const GATES: &str = r#"
nodes:
  order: {wait: {signal: {$input: /order}}}
  sign: {wait: {approval: true}, after: [order]}
  ship: {after: [sign], task: {run: {command: {argv: [bash, -c, FLAG]}}}}
"#;

async fn done(shell: &Shell, line: &[&str], input: &str) -> anyhow::Result<String> {
    let (code, out, err) = shell.berth(line, input).await?;
    anyhow::ensure!(code == 0, "{line:?} ended with {code}: {err}");
    Ok(out.trim().to_owned())
}

/// The graph of `run`, once a node waits for a signal or a person.
async fn waiting(shell: &Shell, run: &str, node: &str) -> anyhow::Result<String> {
    let line = ["workflow", "graph", run, "--output", "json"];
    let task = async || {
        let graph: Value = serde_json::from_str(&shell.berth(&line, "").await.ok()?.1).ok()?;
        let node = graph["nodes"].as_array()?.iter().find(|one| one["name"] == node)?.clone();
        let waits = !node["waits_for"].is_null();
        node["task"].as_str().filter(|_| waits).map(str::to_owned)
    };
    until_some("a node that waits", Duration::from_secs(30), task).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_is_checked_without_a_server_at_its_place() -> anyhow::Result<()> {
    let shell = Shell {
        server: "http://127.0.0.1:1".to_owned(),
        key: String::new(),
        home: tempfile::tempdir()?,
    };
    let check = ["workflow", "check", "-"];
    let (code, out, err) = shell.berth(&check, LOAD).await?;
    assert_eq!((code, out.as_str()), (0, "ok, 3 nodes\n"), "{err}");
    assert_eq!(err, "");

    let bad = LOAD.replace("repair:", "repair:\n    color: red").replace("noop", "nothing");
    let (code, out, err) = shell.berth(&check, &bad).await?;
    assert_eq!(code, 2, "{err}");
    assert!(out.lines().any(|line| line.starts_with("/nodes/repair")), "{out}");

    std::fs::write(shell.home.path().join("open.yaml"), "nodes:\n  a: [1\n  b: 2\n")?;
    let (code, out, err) = shell.berth(&["workflow", "check", "open.yaml"], "").await?;
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.starts_with("berth: open.yaml:3:"), "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_is_stored_and_run_and_watched_to_its_end() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    std::fs::write(shell.home.path().join("load.yaml"), LOAD)?;
    let put = ["workflow", "put", "load", "load.yaml"];
    let shown = done(&shell, &put, "").await?;
    assert!(shown.contains("version  1"), "{shown}");
    let (code, _, err) = shell.berth(&put, "").await?;
    assert!(code == 0 && err.contains("is unchanged: version 1"), "{err}");
    let shown = done(&shell, &["workflow", "get", "load"], "").await?;
    let nodes: Vec<&str> =
        shown.lines().rev().take(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(nodes, ["repair", "load", "zulu"], "{shown}");
    let definition = done(&shell, &["workflow", "get", "load", "--definition"], "").await?;
    let (code, _, err) = shell.berth(&["workflow", "put", "load", "-"], &definition).await?;
    assert!(code == 0 && err.contains("is unchanged"), "{err}");
    let (code, _, err) =
        shell.berth(&["workflow", "put", "load", "load.yaml", "--if-version", "7"], "").await?;
    assert!(code == 1 && err.contains("version 1"), "{code} {err}");
    assert!(done(&shell, &["workflow", "list"], "").await?.contains("load  1        3"));

    for what in ["load", "load.yaml"] {
        let (code, out, err) = shell.berth(&["workflow", "run", what, "--watch"], "").await?;
        assert_eq!(code, 0, "{err}{out}");
        assert!(out.starts_with("NODE") && !out.contains('\u{1b}'), "{out}");
        assert!(out.contains("repair  skipped") && !out.contains("task_"), "{out}");
        let id = err.split_whitespace().find(|word| word.starts_with("run_")).context("an id")?;
        let graph = done(&shell, &["workflow", "graph", id, "--output", "json"], "").await?;
        let graph: Value = serde_json::from_str(&graph)?;
        assert_eq!(graph["run"]["state"], "succeeded");
        let load = graph["nodes"][1]["task"].as_str().context("a task")?;
        assert_eq!(done(&shell, &["logs", load], "").await?, "loads monday");
    }
    let key = ["workflow", "run", "load", "--idempotency-key", "mine"];
    assert_eq!(done(&shell, &key, "").await?, done(&shell, &key, "").await?);
    let runs = done(&shell, &["workflow", "runs", "--workflow", "load"], "").await?;
    assert_eq!(runs.matches("run_").count(), 2, "{runs}");

    let deleted = done(&shell, &["workflow", "delete", "load"], "").await?;
    assert_eq!(deleted, "load deleted; its runs continue");
    assert_eq!(shell.berth(&["workflow", "get", "load"], "").await?.0, 3);
    assert_eq!(shell.berth(&["workflow", "run", "load"], "").await?.0, 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_by_signal_and_approval_and_is_run_again() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let scopes = ["read", "submit", "approve"];
    let customer = Customer::sign_up_with(&cluster, "acme", &scopes).await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let flag = cluster.folder().join("mended");
    let gates = GATES.replace("FLAG", &format!("'[ -e {} ]'", flag.display()));
    let start = ["workflow", "run", "-", "--input", r#"{"order": "order 7"}"#];
    let run = done(&shell, &start, &gates).await?;

    waiting(&shell, &run, "order").await?;
    let shown = done(&shell, &["workflow", "graph", &run], "").await?;
    assert!(shown.contains("order waits for a signal: berth signal 'order 7'"), "{shown}");
    let sent =
        done(&shell, &["signal", "order 7", "--payload", "{\"paid\": true}", "--keep", "1h"], "")
            .await?;
    assert!(sent.starts_with("order 7 sent: 1 node goes on"), "{sent}");
    let sign = waiting(&shell, &run, "sign").await?;
    let approved = done(&shell, &["approve", &sign, "--note", "paid"], "").await?;
    assert_eq!(approved, format!("{sign} succeeded"));
    assert_eq!(shell.berth(&["reject", &sign], "").await?.0, 1, "it is decided");
    let (code, out, err) = shell.berth(&["workflow", "graph", &run, "--watch"], "").await?;
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("ship   failed") && err.contains(&format!("{run} failed")), "{out}{err}");

    std::fs::write(&flag, "")?;
    let (code, out, err) = shell.berth(&["workflow", "rerun", &run, "--watch"], "").await?;
    assert_eq!(code, 0, "{err}{out}");
    assert!(out.contains("of the earlier run"), "{out}");
    let line = ["workflow", "rerun", &run, "--node", "sign", "--below", "--output", "json"];
    let again: Value = serde_json::from_str(&done(&shell, &line, "").await?)?;
    assert_eq!(again["rerun_of"], run.as_str());
    let again = again["id"].as_str().context("an id")?.to_owned();
    let sign = waiting(&shell, &again, "sign").await?;
    assert_eq!(done(&shell, &["reject", &sign], "").await?, format!("{sign} aborted"));
    assert_eq!(shell.berth(&["workflow", "graph", &again, "--watch"], "").await?.0, 1);

    let last = done(&shell, &start, &gates).await?;
    let cancelled = done(&shell, &["workflow", "cancel", &last], "").await?;
    assert!(cancelled.contains("stop requested") || cancelled.contains("cancelled"), "{cancelled}");
    let (code, _, err) = shell.berth(&["workflow", "graph", &last, "--watch"], "").await?;
    assert!(code == 6 && err.contains("was cancelled"), "{code} {err}");
    let shown = done(&shell, &["workflow", "runs", "--state", "cancelled"], "").await?;
    assert!(shown.contains(&last) && !shown.contains(&run), "{shown}");
    Ok(())
}
