//! `berth apply` and `berth export` against real processes.

use super::Shell;
use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::{Value, json};

const ALL: &str = "\
kind: schedule
name: nightly
timing: {specs: [{cron: '0 1 * * *'}], zone: Europe/Berlin}
workflow: {name: load, input: {region: eu}}
---
kind: schedule
name: poll
timing: {specs: [{every: {every: 90s}}]}
task:
  run: {command: {argv: [bash, -c, 'echo hi'], env: {TOKEN: hunter2}, stdin: \"one\\n  two\\n\"}}
  labels: {app: shop}
---
kind: workflow
name: load
description: a description
labels: {app: shop}
nodes:
  zulu: {task: {run: {noop: {}}, execution_cap: 90s}}
  alpha: {after: [zulu], wait: {approval: true}}
---
kind: concurrency_limit
name: exports/daily
running: 3
---
kind: user
name: Ann@example.com
role: viewer
";

struct Stage {
    cluster: Cluster,
    shell: Shell,
}

impl Stage {
    async fn start() -> anyhow::Result<Self> {
        let cluster = Cluster::start(Shape::default().with(Role::Executor, 0)).await?;
        let scopes = ["read", "submit", "admin"];
        let customer = Customer::sign_up_with(&cluster, "acme", &scopes).await?;
        let shell = Shell::new(&cluster, customer.key())?;
        Ok(Self { cluster, shell })
    }

    async fn apply(&self, flags: &[&str], text: &str) -> anyhow::Result<(i32, String, String)> {
        self.shell.berth(&[&["apply", "-f", "-"], flags].concat(), text).await
    }

    /// Applies what must work; gives what is said.
    async fn applied(&self, flags: &[&str], text: &str) -> anyhow::Result<String> {
        let (code, out, err) = self.apply(flags, text).await?;
        anyhow::ensure!(code == 0, "{code}: {out}{err}");
        Ok(out)
    }

    async fn export(&self) -> anyhow::Result<String> {
        let (code, out, err) = self.shell.berth(&["export"], "").await?;
        anyhow::ensure!(code == 0, "{err}");
        Ok(out)
    }
}

fn counts(json: &str) -> anyhow::Result<Value> {
    let whole: Value = serde_json::from_str(json)?;
    Ok(whole["counts"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_exported_is_applied_without_a_change() -> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let (code, out, err) = stage.apply(&["--dry-run"], ALL).await?;
    assert_eq!(code, 8, "{err}");
    assert!(out.ends_with("5 to create, 0 to update, 0 to delete, 0 unchanged\n"), "{out}");
    assert!(!out.contains("hunter2"), "{out}");
    assert_eq!(stage.export().await?, "", "a dry run changes nothing");

    let (code, _, err) = stage.apply(&[], ALL).await?;
    assert!(code == 2 && err.contains("--invitations"), "a token is never on a terminal: {err}");
    assert_eq!(stage.export().await?, "");
    let invite = ["--invitations", "tokens"];
    let out = stage.applied(&invite, ALL).await?;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "created concurrency_limit exports/daily",
            "created workflow load (version 1)",
            "created schedule nightly (version 1)",
            "created schedule poll (version 1)",
            "created user ann@example.com (version 1)",
            "5 created, 0 updated, 0 deleted, 0 unchanged",
        ]
    );
    let tokens = std::fs::read_to_string(stage.shell.home.path().join("tokens"))?;
    assert!(tokens.starts_with("ann@example.com berthinvite_") && tokens.lines().count() == 1);

    let exported = stage.export().await?;
    for text in [ALL, &exported] {
        let (code, out, err) = stage.apply(&["--dry-run"], text).await?;
        assert_eq!(code, 0, "{out}{err}{exported}");
        let out = stage.applied(&["--output", "json"], text).await?;
        let unchanged = json!({"create": 0, "update": 0, "delete": 0, "unchanged": 5, "refused": 0, "not_tried": 0});
        assert_eq!(counts(&out)?, unchanged, "{out}");
    }
    let (_, list, _) = stage.shell.berth(&["export", "--output", "json"], "").await?;
    assert_eq!(serde_json::from_str::<Value>(&list)?.as_array().map(Vec::len), Some(5));
    assert_eq!(stage.apply(&["--dry-run"], &list).await?.0, 0);
    assert_eq!(stage.export().await?, exported);

    // Into a tenant that has nothing it goes whole.
    let scopes = ["read", "submit", "admin"];
    let other = Customer::sign_up_with(&stage.cluster, "other", &scopes).await?;
    let other = Stage { shell: Shell::new(&stage.cluster, other.key())?, ..stage };
    other.applied(&invite, &exported).await?;
    assert_eq!(other.export().await?, exported);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_shown_and_done_and_says_so_by_its_exit_code() -> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let text = ALL.split("---\nkind: user").next().context("objects")?;
    stage.applied(&[], text).await?;
    let other = text.replace("every: 90s", "every: 2m").replace("hunter2", "hunter3");
    // Another form of the same is no change.
    let other = other.replace("execution_cap: 90s", "execution_cap: 1m30s");
    let (code, out, err) = stage.apply(&["--dry-run"], &other).await?;
    assert!(code == 8 && err.contains("1 object would change"), "{code} {err}");
    assert!(
        out.contains("update schedule poll\n    - /task/run/command/env/TOKEN: (not shown)"),
        "{out}"
    );
    assert!(out.contains("\"every\":\"1m30s\"") && out.contains("\"every\":\"2m\""), "{out}");
    assert!(!out.contains("hunter"), "{out}");
    let (_, json, _) = stage.apply(&["--dry-run", "--output", "json"], &other).await?;
    let json: Value = serde_json::from_str(&json)?;
    assert_eq!(json["objects"][3]["action"], "update");
    assert_eq!(json["objects"][3]["diff"][0]["field"], "/task/run/command/env/TOKEN");
    let out = stage.applied(&[], &other).await?;
    assert!(out.contains("updated schedule poll (version 1 -> 2)"), "{out}");
    assert_eq!(stage.apply(&["--dry-run"], &other).await?.0, 0);

    // A paused schedule stays paused, unless the file says otherwise.
    stage.shell.berth(&["schedule", "pause", "poll"], "").await?;
    assert_eq!(stage.apply(&["--dry-run"], &other).await?.0, 0);
    assert!(stage.export().await?.contains("paused: true"));

    // A key that may only read sees what would change, and changes nothing.
    let scopes = ["admin", "key", "create", "--tenant", "acme", "--name", "ci", "--scope", "read"];
    let key = stage.cluster.berth(&scopes).await?.trim().to_owned();
    let reader = Shell::new(&stage.cluster, &key)?;
    let (code, _, err) = reader.berth(&["apply", "-f", "-", "--dry-run"], text).await?;
    assert_eq!(code, 8, "{err}");
    let (code, out, _) = reader.berth(&["apply", "-f", "-"], text).await?;
    assert!(code == 4 && out.contains("refused schedule poll"), "{code} {out}");
    let (code, out, err) = reader.berth(&["export"], "").await?;
    assert!(code == 0 && !out.contains("kind: user"), "{out}");
    assert!(err.contains("users are left out"), "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_name_their_line_and_nothing_is_changed() -> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let good = "kind: concurrency_limit\nname: exports\nrunning: 3\n---\n";
    let bad = [
        (
            "kind: schedule\nname: a\ntiming:\n  specs: [{cron: '61 * * * *'}]\n  zone: Mars/Olympus\ntask: {run: {noop: {}}}\n",
            vec![
                "standard input:8:18: document 2: /timing/specs/0/cron: ",
                "standard input:9:9: document 2: /timing/zone: ",
            ],
        ),
        (
            "kind: workflow\nname: a\nnodes:\n  x: {wait: {approval: true}, colour: red}\n",
            vec!["standard input:8:"],
        ),
        // Only the server knows which pools there are.
        (
            "kind: schedule\nname: a\ntiming: {specs: [{cron: '@daily'}]}\ntask:\n  pool: nonesuch\n  run: {noop: {}}\n",
            vec!["standard input:9:9: document 2: /task/pool: "],
        ),
        (
            "kind: schedule\nname: a\ntiming: {specs: [{cron: '@daily'}]}\nworkflow:\n  name: nonesuch\n",
            vec!["standard input:9:9: document 2: /workflow/name: "],
        ),
        (
            "kind: concurrency_limit\nname: exports\nrunning: 4\n",
            vec!["standard input:6:7: document 2: /name: concurrency_limit exports is given twice"],
        ),
        ("kind: [\n", vec!["standard input:"]),
    ];
    for (text, wanted) in bad {
        let text = format!("{good}{text}");
        let (code, _, err) = stage.apply(&[], &text).await?;
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("nothing was changed"), "{err}");
        for start in wanted {
            assert!(err.lines().any(|line| line.starts_with(start)), "{start}: {err}");
        }
        let (code, json, _) = stage.apply(&["--output", "json"], &text).await?;
        let json: Value = serde_json::from_str(&json)?;
        assert!(code == 2 && json["errors"][0]["line"].is_u64(), "{json}");
        assert_eq!(stage.export().await?, "", "of {text}");
    }
    for (flags, text) in [(&["--prune"][..], good), (&["--prune", "-l", "a=b"], "# nothing\n")] {
        assert_eq!(stage.apply(flags, text).await?.0, 2, "{flags:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_deletes_only_what_carries_the_label_and_is_in_no_file() -> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let text = ALL.split("---\nkind: user").next().context("objects")?;
    stage.applied(&[], text).await?;
    let timing = "timing: {specs: [{cron: '@daily'}]}";
    let others = format!(
        "kind: schedule\nname: blog\n{timing}\ntask: {{run: {{noop: {{}}}}, labels: {{app: blog}}}}\n---\n\
         kind: schedule\nname: bare\n{timing}\ntask: {{run: {{noop: {{}}}}}}\n---\n\
         kind: workflow\nname: inner\nnodes: {{a: {{task: {{run: {{noop: {{}}}}, labels: {{app: shop}}}}}}}}\n"
    );
    stage.applied(&[], &others).await?;
    let kept = "kind: concurrency_limit\nname: other\nrunning: 2\n";
    let prune = ["--prune", "-l", "app=shop"];
    let (code, out, _) = stage.apply(&[&prune[..], &["--dry-run"]].concat(), kept).await?;
    assert_eq!(code, 8);
    let deletes: Vec<&str> = out.lines().filter(|line| line.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete schedule poll", "delete workflow load"]);

    // A schedule without labels still names the workflow: that is refused, and the rest is done.
    let (code, out, err) = stage.apply(&prune, kept).await?;
    assert!(code == 1 && err.contains("workflow load: "), "{code} {err}");
    assert!(
        out.contains("deleted schedule poll") && out.contains("refused workflow load"),
        "{out}"
    );
    assert!(out.contains("created concurrency_limit other"), "{out}");
    stage.shell.berth(&["schedule", "delete", "nightly"], "").await?;
    let out = stage.applied(&prune, kept).await?;
    assert!(out.contains("deleted workflow load"), "{out}");

    let (_, list, _) = stage.shell.berth(&["export", "--output", "json"], "").await?;
    let list: Value = serde_json::from_str(&list)?;
    let names: Vec<&str> =
        list.as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["exports/daily", "other", "inner", "bare", "blog"]);
    assert_eq!(stage.apply(&[&prune[..], &["--dry-run"]].concat(), kept).await?.0, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_folder_twice_in_parallel_ends_alike() -> anyhow::Result<()> {
    let stage = Stage::start().await?;
    let folder = stage.shell.home.path().join("objects");
    std::fs::create_dir(&folder)?;
    let write = |cap: &str| {
        for n in 0..20 {
            let text = format!(
                "kind: schedule\nname: s{n}\ntiming: {{specs: [{{cron: '@daily'}}]}}\nworkflow: {{name: w{n}}}\n---\n\
                 kind: workflow\nname: w{n}\nlabels: {{app: shop}}\nnodes: {{a: {{task: {{run: {{noop: {{}}}}, execution_cap: {cap}}}}}}}\n---\n\
                 kind: schedule\nname: t{n}\ntiming: {{specs: [{{cron: '@daily'}}]}}\ntask: {{run: {{noop: {{}}}}, execution_cap: {cap}, labels: {{app: shop}}}}\n"
            );
            std::fs::write(folder.join(format!("{n}.yaml")), text)?;
        }
        anyhow::Ok(())
    };
    let apply = ["apply", "-f", "objects", "--prune", "-l", "app=shop"];
    for cap in ["10s", "20s", "30s"] {
        write(cap)?;
        let both =
            futures::future::join(stage.shell.berth(&apply, ""), stage.shell.berth(&apply, ""));
        let (one, other) = both.await;
        for (code, out, err) in [one?, other?] {
            assert_eq!(code, 0, "{out}{err}");
        }
        let (code, out, err) =
            stage.shell.berth(&[&apply[..], &["--dry-run"]].concat(), "").await?;
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.ends_with("60 unchanged\n"), "{out}");
    }
    // Each change was made once, by one of the two.
    let (_, list, _) =
        stage.shell.berth(&["schedule", "list", "--all", "--output", "json"], "").await?;
    let list: Value = serde_json::from_str(&list)?;
    for schedule in list["data"].as_array().context("schedules")? {
        let wanted = if schedule["task"].is_object() { 3 } else { 1 };
        assert_eq!(schedule["version"], wanted, "{schedule}");
    }
    for n in 10..20 {
        std::fs::remove_file(folder.join(format!("{n}.yaml")))?;
    }
    for n in 10..20 {
        stage.shell.berth(&["schedule", "delete", &format!("s{n}")], "").await?;
    }
    let both = futures::future::join(stage.shell.berth(&apply, ""), stage.shell.berth(&apply, ""));
    let (one, other) = both.await;
    for (code, out, err) in [one?, other?] {
        assert_eq!(code, 0, "what the other deleted is deleted: {out}{err}");
    }
    let (_, list, _) = stage.shell.berth(&["export", "--output", "json"], "").await?;
    assert_eq!(serde_json::from_str::<Value>(&list)?.as_array().map(Vec::len), Some(30));
    Ok(())
}
