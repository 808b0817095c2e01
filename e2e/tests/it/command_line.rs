//! The customer's commands against real processes: what a script sees, on which stream, with which exit code.

mod apply;
mod costs;
mod invoices;
mod quotes;
mod workflows;

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Output, Stdio};
use std::time::Duration;
use testkit::poll::{self, until_some};
use testkit::{fill, psql};
use tokio::io::AsyncWriteExt;

struct Shell {
    server: String,
    key: String,
    home: tempfile::TempDir,
}

impl Shell {
    /// For whoever has `key`, at the cluster's first api.
    fn new(cluster: &Cluster, key: &str) -> anyhow::Result<Self> {
        let server = cluster.api_urls().first().context("an api")?.clone();
        Ok(Self { server, key: key.to_owned(), home: tempfile::tempdir()? })
    }

    async fn berth(&self, line: &[&str], input: &str) -> anyhow::Result<(i32, String, String)> {
        let program = testkit::program::find("cli", "berth")?;
        let mut command = tokio::process::Command::new(program);
        let command = command
            .args(line)
            .env("BERTH_SERVER", &self.server)
            .env("BERTH_API_KEY", &self.key)
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .env_remove("XDG_CONFIG_HOME");
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn()?;
        let mut stdin = child.stdin.take().context("stdin")?;
        stdin.write_all(input.as_bytes()).await?;
        drop(stdin);
        let limit = std::time::Duration::from_secs(60);
        let Output { status, stdout, stderr } =
            runtime::clock::timeout(limit, child.wait_with_output()).await??;
        Ok((status.code().unwrap_or(-1), String::from_utf8(stdout)?, String::from_utf8(stderr)?))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_gets_output_ends_and_refusals_where_it_looks_for_them() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;

    let script = "echo one; echo two >&2; sleep 1; echo three";
    let (code, out, err) =
        shell.berth(&["submit", "--follow", "--", "bash", "-c", script], "").await?;
    assert_eq!((code, out.as_str()), (0, "one\nthree\n"), "{err}");
    assert!(err.contains("two\n") && err.contains("is submitted"), "{err}");

    let (code, out, err) =
        shell.berth(&["submit", "-f", "--", "bash", "-c", "echo x; exit 7"], "").await?;
    assert_eq!((code, out.as_str()), (1, "x\n"), "{err}");
    assert!(err.contains("failed with exit code 7. See"), "{err}");

    let tasks = "{\"run\":{\"noop\":{}}}\n\n{\"run\":{\"noop\":{}},\"name\":\"\"}\n{\"run\":{\"noop\":{}}}\n";
    let (code, out, err) = shell.berth(&["submit", "--file", "-"], tasks).await?;
    assert_eq!((code, out.lines().count()), (2, 2), "{err}");
    assert!(err.contains("line 3: /name: ") && err.contains("2 stored, 1 refused"), "{err}");

    let ids: Vec<&str> = out.lines().collect();
    let (code, shown, err) =
        shell.berth(&[&["watch", "--every", "200ms"], ids.as_slice()].concat(), "").await?;
    assert_eq!(code, 0, "{err}");
    assert!(shown.starts_with("ID") && shown.matches("succeeded").count() >= 2, "{shown}");
    assert!(!shown.contains('\u{1b}'), "colours and redraws are for terminals");
    let first = ids.first().context("an id")?;
    let (code, shown, _) = shell.berth(&["get", "--wait", first], "").await?;
    assert!(code == 0 && shown.contains("succeeded"), "{shown}");

    let returns = "echo '{\"a\": 1}' > $BERTH_RESULT";
    let (_, id, _) = shell.berth(&["submit", "--", "bash", "-c", returns], "").await?;
    shell.berth(&["get", "--wait", id.trim()], "").await?;
    for format in ["table", "json"] {
        let (code, out, err) = shell.berth(&["result", id.trim(), "--output", format], "").await?;
        assert_eq!((code, out.as_str()), (0, "{\"a\": 1}\n"), "{err}");
    }
    let (code, out, err) = shell.berth(&["result", first], "").await?;
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("The task ended succeeded without a result"), "{err}");

    let (_, id, _) = shell.berth(&["submit", "--delay", "1h", "--noop"], "").await?;
    let (code, _, err) = shell.berth(&["result", id.trim()], "").await?;
    assert!(code == 1 && err.contains("The task is scheduled"), "{code} {err}");
    shell.berth(&["cancel", id.trim()], "").await?;
    let (code, _, err) = shell.berth(&["logs", "-f", id.trim()], "").await?;
    assert_eq!(code, 6, "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backfill_of_ten_days_runs_ten_days_and_each_task_is_told_its_own() -> anyhow::Result<()>
{
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let script = "echo \"$BERTH_SCHEDULE for $BERTH_DUE_AT\"; cd && touch \"$HOME/mine\" && ls";
    let timing =
        ["--cron", "30 2 * * *", "--start-at", "2020-01-01T00:00:00Z", "--overlap", "allow"];
    let put =
        [&["schedule", "put", "nightly"], &timing[..], &["--", "bash", "-c", script]].concat();
    let (code, _, err) = shell.berth(&put, "").await?;
    assert_eq!(code, 0, "{err}");
    let range = ["--from", "2025-01-01T00:00:00Z", "--to", "2025-01-11T00:00:00Z"];
    let (code, _, err) =
        shell.berth(&[&["schedule", "backfill", "nightly"], &range[..]].concat(), "").await?;
    assert_eq!(code, 0, "{err}");

    let list = ["list", "--schedule", "nightly", "--output", "json"];
    let ten = async || {
        let tasks: Value = serde_json::from_str(&shell.berth(&list, "").await.ok()?.1).ok()?;
        let tasks = tasks["data"].as_array()?.clone();
        (tasks.len() == 10).then_some(tasks)
    };
    let tasks = until_some("ten tasks", Duration::from_secs(30), ten).await?;
    let mut days = BTreeSet::new();
    for task in &tasks {
        let (id, due) = (task["id"].as_str(), task["due_at"].as_str());
        let (id, due) = (id.context("an id")?, due.context("a due time")?);
        let (code, said, err) = shell.berth(&["logs", "--follow", id], "").await?;
        assert_eq!((code, said), (0, format!("nightly for {due}\nmine\n")), "{err}");
        let (_, shown, _) = shell.berth(&["get", id], "").await?;
        assert!(shown.contains("nightly (schedule_") && shown.contains("to run"), "{shown}");
        days.insert(due.to_owned());
    }
    let wanted = (1..=10).map(|day| format!("2025-01-{day:02}T02:30:00Z")).collect();
    assert_eq!(days, wanted);
    let (_, table, _) = shell.berth(&["list", "--schedule", "nightly"], "").await?;
    assert!(days.iter().all(|due| table.contains(due)) && table.contains("SCHEDULE"), "{table}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_killed_over_its_cap_is_tried_again_on_request_and_ends_killed()
-> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let attempts = async |flags: &[&str], command: &[&str]| {
        let line = [&["submit", "--max-attempts", "2"], flags, &["--"], command];
        let (_, id, err) = shell.berth(&line.concat(), "").await?;
        let id = id.trim();
        anyhow::ensure!(!id.is_empty(), "{line:?}: {err}");
        let (_, task, _) = shell.berth(&["get", "--wait", id, "--output", "json"], "").await?;
        let task: Value = serde_json::from_str(&task)?;
        let (_, tries, _) = shell.berth(&["attempts", id, "--output", "json"], "").await?;
        let tries: Value = serde_json::from_str(&tries)?;
        let tries = tries["data"].as_array().context("attempts")?;
        let states: Vec<_> = tries.iter().filter_map(|one| one["state"].as_str()).collect();
        anyhow::Ok(format!("{} {} {}", task["state"], task["failures"], states.join(" ")))
    };
    let (cap, sleep) = (["--execution-cap", "500ms"], ["sleep", "60"]);
    let usual = attempts(&cap, &sleep).await?;
    assert_eq!(usual, "\"killed\" 1 killed_cap");
    let again = attempts(&[&cap[..], &["--retry-on", "failure,cap"]].concat(), &sleep).await?;
    assert_eq!(again, "\"killed\" 2 killed_cap killed_cap");
    // A failure is not tried again where only the cap is named.
    let failure = attempts(&["--retry-on", "cap"], &["false"]).await?;
    assert_eq!(failure, "\"failed\" 1 failed");
    // A signal of its own is 128 and its number on the list of those that abort.
    let task = json!({"run": {"command": {"argv": ["bash", "-c", "kill -SEGV $$"]}}, "max_attempts": 3,
        "retry": {"abort_on_exit_codes": [139]}});
    let (_, id, err) = shell.berth(&["submit", "--json", "-"], &task.to_string()).await?;
    let (_, shown, _) = shell.berth(&["get", "--wait", id.trim(), "--output", "json"], "").await?;
    let shown: Value = serde_json::from_str(&shown).context(err)?;
    let ended = (&shown["state"], &shown["attempts"], &shown["reason"]);
    assert_eq!(ended, (&json!("aborted"), &json!(1), &json!("ended by signal 11")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_up_by_command_has_a_key_that_works() -> anyhow::Result<()> {
    let shape = Shape::default()
        .set("BERTH_AUTH__JWT_KEY", "c8d7e6f504132231445566778899aabb")
        .set("BERTH_AUTH__SIGN_UP_PLAN", "free");
    let cluster = Cluster::start(shape).await?;
    let shell = Shell::new(&cluster, "")?;
    let sign_up = ["sign-up", "--tenant", "acme", "--email", "Ann@Example.com"];
    let password = "correct horse battery staple\n";
    assert_eq!(shell.berth(&sign_up, "too short\n").await?.0, 2);
    let (code, out, err) = shell.berth(&sign_up, password).await?;
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(!err.contains("correct horse") && err.contains("profile `default`"), "{err}");
    let (code, _, err) = shell.berth(&["submit", "--follow", "--noop"], "").await?;
    assert_eq!(code, 0, "with the key that was kept: {err}");
    let (_, listed, _) = shell.berth(&["keys", "list"], "").await?;
    assert!(
        listed.contains("berth sign-up") && listed.contains("read,submit,approve,admin"),
        "{listed}"
    );
    let (code, own, err) = shell.berth(&["whoami"], "").await?;
    assert_eq!(code, 0, "{err}");
    assert!(
        own.contains("acme (")
            && own.contains("read, submit, approve, admin")
            && own.contains(&shell.server),
        "{own}"
    );
    let (_, token, _) =
        shell.berth(&["users", "invite", "bob@example.com", "--role", "developer"], "").await?;
    let accept = format!("{}{password}", token);
    let (code, _, err) = shell.berth(&["accept"], &accept).await?;
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains("correct horse") && !err.contains(token.trim()), "{err}");
    let sign_in = ["sign-in", "bob@example.com", "--tenant", "acme", "--profile", "bob"];
    assert_eq!(shell.berth(&sign_in, "another one\n").await?.0, 4);
    let (code, _, err) = shell.berth(&sign_in, password).await?;
    assert_eq!(code, 0, "{err}");
    let (_, own, _) = shell.berth(&["whoami", "--profile", "bob"], "").await?;
    assert!(
        own.contains("berth sign-in") && own.contains("read, submit") && !own.contains("admin"),
        "{own}"
    );
    assert_eq!(shell.berth(&["profile", "use", "default"], "").await?.0, 0);
    // Neither what was kept nor what is somebody else's is replaced.
    let (code, _, err) = shell.berth(&sign_up, password).await?;
    assert!(code == 2 && err.contains("--profile"), "{err}");
    let other = [&sign_up[..], &["--profile", "other"]].concat();
    let (code, _, err) = shell.berth(&other, password).await?;
    assert!(code == 1 && err.contains("taken"), "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn users_and_operators_keys_are_made_changed_and_ended_by_command() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    cluster.berth(&["admin", "tenant", "create", "acme"]).await?;
    let admin = ["admin", "key", "create", "--tenant", "acme", "--name", "all"];
    let scopes = ["--scope", "read", "--scope", "submit", "--scope", "admin"];
    let key = cluster.berth(&[&admin[..], &scopes].concat()).await?.trim().to_owned();
    let shell = Shell::new(&cluster, &key)?;

    let (code, token, err) =
        shell.berth(&["users", "invite", "ann@example.com", "--role", "viewer"], "").await?;
    assert!(code == 0 && token.starts_with("berthinvite_"), "{err}");
    let (_, listed, _) = shell.berth(&["users", "list"], "").await?;
    let id = listed.lines().nth(1).and_then(|line| line.split_whitespace().next());
    let id = id.with_context(|| format!("a user in {listed}"))?;
    for user in ["Ann@example.com", id] {
        let (code, said, err) = shell.berth(&["users", "role", user, "developer"], "").await?;
        assert_eq!((code, said.trim()), (0, "ann@example.com is developer now"), "{err}");
    }
    let nobody = shell.berth(&["users", "role", "bob@example.com", "viewer"], "").await?;
    assert!(nobody.0 == 3 && nobody.2.contains("bob@example.com"), "{}", nobody.2);
    let (code, _, err) = shell.berth(&["users", "role", id, "owner"], "").await?;
    assert_eq!(code, 4, "a key makes no owners: {err}");
    assert_eq!(shell.berth(&["users", "remove", id], "").await?.0, 0);
    assert_eq!(shell.berth(&["users", "remove", id], "").await?.0, 3);

    let put = ["users", "put", "Cy@example.com", "viewer"];
    let (code, token, err) = shell.berth(&put, "").await?;
    assert!(code == 0 && token.starts_with("berthinvite_"), "{err}");
    let (code, said, err) = shell.berth(&put, "").await?;
    assert_eq!((code, said.trim()), (0, "cy@example.com is viewer"), "{err}");
    let remove = ["admin", "user", "remove", "--tenant", "acme", "--email", "cy@example.com"];
    assert!(cluster.berth(&[&remove[..], &["--if-version", "2"]].concat()).await.is_err());
    let said = cluster.berth(&[&remove[..], &["--if-version", "1"]].concat()).await?;
    assert_eq!(said.trim(), "cy@example.com removed");
    assert!(cluster.berth(&remove).await.is_err());

    let create = ["admin", "operator-key", "create", "--name", "ann", "--scope", "read"];
    let old = cluster.berth(&create).await?;
    let id = old.split('_').nth(2).context("a key")?;
    let new = cluster.berth(&["admin", "operator-key", "rotate", id, "--overlap", "0s"]).await?;
    assert!(new.starts_with("berthop_"), "{new}");
    let listed = cluster.berth(&["admin", "operator-key", "list"]).await?;
    assert_eq!(listed.matches(" ann ").count(), 2, "{listed}");
    let new = new.split('_').nth(2).context("a key")?;
    cluster.berth(&["admin", "operator-key", "revoke", new]).await?;
    assert!(cluster.berth(&["admin", "operator-key", "revoke", new]).await.is_err());
    assert!(!cluster.berth(&["admin", "operator-key", "list"]).await?.contains(new));

    // What an operator did with a command is theirs in the audit, by their key.
    cluster.berth(&["admin", "tenant", "suspend", "acme"]).await?;
    cluster.berth(&["admin", "tenant", "resume", "acme"]).await?;
    let (code, audit, err) = shell.berth(&["audit", "--output", "json"], "").await?;
    assert_eq!(code, 0, "{err}");
    let audit: serde_json::Value = serde_json::from_str(&audit)?;
    let rows = audit["data"].as_array().context("rows")?;
    let by =
        |action: &str| rows.iter().find(|row| row["action"] == action).map(|row| &row["actor"]);
    let own = cluster.operator_key().await?.split('_').nth(2).context("a key")?;
    for action in ["tenant.create", "key.create", "tenant.suspend", "tenant.resume"] {
        let actor = by(action).with_context(|| format!("{action} in {audit}"))?;
        assert_eq!((&actor["kind"], &actor["id"]), (&"operator".into(), &own.into()), "{action}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_need_a_key_and_no_database() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let shell = Shell::new(&cluster, "berth_live_none")?;
    let (code, _, err) = shell.berth(&["admin", "tenant", "list"], "").await?;
    assert!(code == 4 && err.contains("BERTH_OPERATOR_KEY") && err.contains("--first"), "{err}");
    // Kept in the profile beside the customer's key.
    let (code, _, err) = shell.berth(&["admin", "login"], cluster.operator_key().await?).await?;
    assert_eq!(code, 0, "{err}");
    let admin = async |line: &[&str]| {
        let line = [&["admin"], line].concat();
        let (code, out, err) = shell.berth(&line, "").await?;
        anyhow::ensure!(code == 0, "{line:?}: {err}");
        anyhow::Ok(out)
    };
    assert!(admin(&["whoami"]).await?.contains("read, admin"));
    let id = admin(&["tenant", "create", "acme"]).await?;
    assert!(admin(&["tenant", "show", "acme"]).await?.contains(id.trim()));
    assert!(admin(&["tenant", "list", "--state", "active"]).await?.contains("acme"));
    admin(&["plan", "create", "team", "--backlog", "7"]).await?;
    admin(&["plan", "set", "team", "--running-tasks", "3"]).await?;
    let plans = admin(&["plan", "list", "--output", "json"]).await?;
    let plans: serde_json::Value = serde_json::from_str(&plans)?;
    let team = plans["data"].as_array().and_then(|all| all.iter().find(|p| p["name"] == "team"));
    let team = team.context("the plan")?;
    assert_eq!((&team["backlog"], &team["version"]), (&7.into(), &2.into()), "{team}");
    let (code, _, err) = shell.berth(&["admin", "plan", "create", "team"], "").await?;
    assert!(code == 1 && err.contains("already exists"), "{err}");
    admin(&["tenant", "set-plan", "acme", "team", "--weight", "2"]).await?;
    let (code, _, err) = shell.berth(&["admin", "plan", "delete", "team"], "").await?;
    assert!(code == 1 && err.contains("in use"), "{err}");
    admin(&["pool", "set", "gpu", "--grant-tenant", "acme", "--max-executor", "ports=9"]).await?;
    let pool = admin(&["pool", "set", "gpu", "--grant-plan", "team"]).await?;
    assert!(pool.contains("plan team, 1 tenant") && pool.contains("ports=9"), "{pool}");
    assert!(admin(&["pool", "list", "--output", "json"]).await?.contains(id.trim()));
    admin(&["pool", "delete", "gpu"]).await?;
    // A grant beside `everyone` is kept, and counts when that is taken away.
    assert!(admin(&["pool", "set", "default", "--grant-plan", "team"]).await?.contains("everyone"));
    let default = admin(&["pool", "set", "default", "--everyone", "off"]).await?;
    assert!(default.contains("plan team"), "{default}");
    admin(&["pool", "set", "default", "--everyone", "on", "--revoke-plan", "team"]).await?;
    let invited = ["user", "create", "--tenant", "acme", "--email", "a@b.c", "--role", "owner"];
    assert!(admin(&invited).await?.starts_with("berthinvite_"));
    assert!(admin(&["user", "list", "--tenant", "acme"]).await?.contains("owner"));
    let key = ["key", "create", "--tenant", "acme", "--name", "first", "--scope", "read"];
    let key = admin(&key).await?;
    let key_id = key.split('_').nth(2).context("a key")?;
    assert!(admin(&["key", "list", "--tenant", id.trim()]).await?.contains(key_id));
    let new = admin(&["key", "rotate", key_id, "--tenant", "acme", "--overlap", "0s"]).await?;
    assert!(new.starts_with("berth_live_") && new != key);
    admin(&["key", "revoke", key_id, "--tenant", "acme"]).await?;
    let executors = admin(&["executor", "list", "--pool", "default"]).await?;
    assert!(executors.contains("executor-0") && executors.contains("16000/16000"), "{executors}");
    assert!(admin(&["resume-after-restore"]).await?.contains("not held"));
    // Another server does not get the key.
    let other = ["admin", "whoami", "--server", "http://127.0.0.1:1"];
    assert_eq!(shell.berth(&other, "").await?.0, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_turn_it_is_is_set_and_shown_by_command() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;

    let turn = ["--priority", "-2", "--flexible", "--concurrency-key", "a/b"];
    let line = [&["submit", "--delay", "1h", "--noop"][..], &turn].concat();
    let (code, id, err) = shell.berth(&line, "").await?;
    assert_eq!(code, 0, "{err}");
    let (_, shown, _) = shell.berth(&["get", id.trim()], "").await?;
    let details: Vec<Vec<&str>> =
        shown.lines().map(|line| line.split_whitespace().collect()).collect();
    for wanted in [["priority", "-2"], ["flexible", "until"], ["concurrency", "a/b"]] {
        assert!(details.iter().any(|line| line.starts_with(&wanted)), "{wanted:?} in {shown}");
    }

    let limit = async |line: &[&str]| {
        let line = [&["--output", "json", "concurrency"], line].concat();
        let (code, out, err) = shell.berth(&line, "").await?;
        anyhow::ensure!(code == 0, "{line:?}: {err}");
        Ok(serde_json::from_str::<serde_json::Value>(&out)?)
    };
    assert_eq!(limit(&["show", "a/b"]).await?["running"], 1);
    assert_eq!(limit(&["set", "a/b", "3"]).await?["stored"], true);
    assert_eq!(limit(&["show", "a/b"]).await?["running"], 3);
    let listed = limit(&["list"]).await?;
    assert_eq!((&listed["data"][0]["key"], &listed["data"][1]), (&"a/b".into(), &().into()));
    assert_eq!(limit(&["delete", "a/b"]).await?["stored"], false);
    let (code, table, err) = shell.berth(&["concurrency", "list"], "").await?;
    assert_eq!((code, table.contains("a/b")), (0, false), "{table} {err}");

    let pause = ["admin", "pool", "pause", "default", "--because", "a new kernel"];
    assert!(cluster.berth(&pause).await?.contains("a new kernel"));
    assert!(cluster.berth(&["admin", "pool", "list"]).await?.contains("a new kernel"));
    assert!(
        !cluster.berth(&["admin", "pool", "resume", "default"]).await?.contains("a new kernel")
    );
    assert!(cluster.berth(&["admin", "pool", "resume", "none"]).await.is_err());
    let plan = cluster.berth(&["admin", "plan", "create", "night", "--flexible", "on"]).await?;
    assert!(plan.lines().last().is_some_and(|line| line.contains(" on ")), "{plan}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_of_this_machine_runs_on_the_executor_with_what_is_piped_in() -> anyhow::Result<()>
{
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let home = shell.home.path();
    std::fs::write(
        home.join("job.sh"),
        "#!/usr/bin/env bash\n[[ $A = 1 ]] && echo \"$0 $1 $B $(cat)\"\n",
    )?;
    std::fs::write(home.join("job.env"), "# of the job\nA=0\nB=two words\n")?;
    let flags = ["submit", "-f", "--stdin", "-", "--env-file", "job.env", "--env", "A=1"];
    for sent in [&["--", "./job.sh", "x"][..], &["--script", "job.sh", "--", "x"]] {
        let (code, out, err) = shell.berth(&[&flags[..], sent].concat(), "piped in").await?;
        assert_eq!((code, out.as_str()), (0, "./job.sh x two words piped in\n"), "{err}");
        assert!(err.contains("job.sh (") && err.contains("sent with the task"), "{err}");
    }
    let (code, out, err) = shell.berth(&["submit", "-f", "--", "cat"], "not asked for").await?;
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let (code, _, err) = shell.berth(&["submit", "--", "./none.sh"], "").await?;
    assert!(code == 2 && err.contains("./none.sh"), "{err}");
    let (_, listed, _) = shell.berth(&["list", "--limit", "1"], "").await?;
    assert_eq!(listed.lines().count(), 2, "nothing was submitted for it: {listed}");

    let large = format!("@{}", home.join("large").display());
    std::fs::write(home.join("large"), "x".repeat(300_000))?;
    let (code, _, err) = shell.berth(&["submit", "--stdin", &large, "--", "cat"], "").await?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("262144") && err.contains("api.max_task_bytes"), "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_found_run_again_and_cancelled_together_by_command() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let submit = async |env: &str| {
        let label = format!("env={env}");
        let line =
            ["submit", "--label", "team=media", "--label", &label, "--delay", "1h", "--env", "A=1"];
        let (code, id, err) =
            shell.berth(&[&line[..], &["--", "bash", "-c", "exit 3"]].concat(), "").await?;
        anyhow::ensure!(code == 0, "{err}");
        Ok(id.trim().to_owned())
    };
    let (prod, test) = (submit("prod").await?, submit("test").await?);
    let listed = async |filter: &[&str]| {
        let (code, out, err) =
            shell.berth(&[&["list", "--output", "json"], filter].concat(), "").await?;
        anyhow::ensure!(code == 0, "{err}");
        let page: serde_json::Value = serde_json::from_str(&out)?;
        let tasks = page["data"].as_array().context("tasks")?;
        Ok(tasks
            .iter()
            .map(|task| task["id"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>())
    };
    let media = ["--label", "team=media"];
    assert_eq!(listed(&[&media[..], &["--label", "env!=prod"]].concat()).await?, [test.as_str()]);
    assert_eq!(listed(&[&media[..], &["--label", "env=prod"]].concat()).await?, [prod.as_str()]);
    assert_eq!(listed(&["--since", "1h"]).await?.len(), 2);
    assert_eq!(listed(&["--until", "1h"]).await?, Vec::<String>::new());

    let none = domain::id::TaskId::fresh().to_string();
    let (code, out, err) = shell.berth(&["cancel", &prod, &none, &test], "").await?;
    assert_eq!((code, out.matches(" cancelled").count()), (3, 2), "{out} {err}");
    assert!(err.contains(&format!("There is no task `{none}`")), "{err}");

    let set = ["--set", "env.A=2", "--set", "max_attempts=1", "--unset", "labels.env", "-f"];
    let (code, _, err) = shell.berth(&[&["rerun", &prod], &set[..]].concat(), "").await?;
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("failed with exit code 3. See"), "{err}");
    let (_, out, _) = shell.berth(&["list"], "").await?;
    let reason = out.lines().find(|line| line.contains(" failed ")).unwrap_or_default();
    assert!(out.starts_with("ID") && reason.ends_with("ended with exit code 3"), "{out}");
    let again = listed(&["--state", "failed"]).await?;
    let (_, shown, _) = shell.berth(&["get", "--output", "json", &again[0]], "").await?;
    let shown: serde_json::Value = serde_json::from_str(&shown)?;
    assert_eq!(
        (&shown["rerun_of"], &shown["labels"]),
        (&prod.as_str().into(), &serde_json::json!({"team": "media"}))
    );
    assert_eq!(shown["run"]["command"]["env"]["A"], "2");

    // What no task of the first page fits is on the next one.
    let url = cluster.database().owner_url().to_owned();
    let model = psql::run(&url, "select id from task_history limit 1").await?;
    fill::ended(&url, &model, 10_500).await?;
    let rare = "update task_spec set labels = '{\"kind\": \"rare\"}'
        where id = (select id from task_history order by id limit 1)";
    psql::run(&url, rare).await?;
    assert_eq!(listed(&["--label", "kind=rare"]).await?.len(), 1);
    let (_, table, err) = shell.berth(&["list", "--label", "kind=rare"], "").await?;
    assert_eq!(table.lines().count(), 2, "{table} {err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_is_edited_in_parts_and_what_is_shown_can_be_stored_again() -> anyhow::Result<()>
{
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let put = [
        "schedule",
        "put",
        "report",
        "--cron",
        "0 4 * * *",
        "--zone",
        "Europe/Berlin",
        "--execution-cap",
        "2h",
    ];
    let task = [
        "--env",
        "A=1",
        "--label",
        "team=x",
        "--pause-after-failures",
        "3",
        "--",
        "bash",
        "-c",
        "echo hi",
    ];
    let (code, _, err) = shell.berth(&[&put[..], &task].concat(), "").await?;
    assert_eq!(code, 0, "{err}");
    let get = async || {
        let (_, out, _) =
            shell.berth(&["schedule", "get", "report", "--output", "json"], "").await?;
        anyhow::Ok((serde_json::from_str::<serde_json::Value>(&out)?, out))
    };
    let (before, kept) = get().await?;

    let edit = ["schedule", "edit", "report", "--execution-cap", "3h", "--env", "B=2"];
    let (code, _, err) = shell.berth(&edit, "").await?;
    assert_eq!(code, 0, "{err}");
    for line in [
        "- task.execution_cap: 2h",
        "+ task.execution_cap: 3h",
        "+ task.run.command.env.B: (not shown)",
    ] {
        assert!(err.contains(line), "{line} in {err}");
    }
    let (mut after, _) = get().await?;
    assert_eq!(after["version"], 2);
    assert_eq!(after["task"]["run"]["command"]["env"], serde_json::json!({"A": "1", "B": "2"}));
    // All else is what it was.
    for pointer in ["/task/execution_cap", "/task/run/command/env", "/version", "/updated_at"] {
        let was = before.pointer(pointer).context("a field")?.clone();
        *after.pointer_mut(pointer).context("a field")? = was;
    }
    assert_eq!(after, before);

    let (code, _, err) = shell.berth(&["schedule", "put", "report", "--file", "-"], &kept).await?;
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("version 2 -> 3") && err.contains("+ task.execution_cap: 2h"), "{err}");
    let (code, _, err) = shell.berth(&["schedule", "put", "report", "--file", "-"], &kept).await?;
    assert!(code == 0 && err.contains("is unchanged"), "{err}");
    let (code, _, err) = shell.berth(&["schedule", "edit", "none", "--zone", "UTC"], "").await?;
    assert!(code == 3 && err.contains("There is no schedule `none`"), "{err}");
    assert_eq!(shell.berth(&["schedule", "edit", "report"], "").await?.0, 2, "nothing is named");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_task_that_fits_no_executor_is_told_so() -> anyhow::Result<()> {
    let one = |shape: Shape, role| shape.with(role, 1);
    let cluster = Cluster::start(Role::ALL.into_iter().fold(Shape::default(), one)).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let large = r#"{"run":{"noop":{}},"resources":{"cpu_millis":1000000,"memory_mib":1}}"#;
    // The api knows of a new executor within a second.
    let submitted = || async {
        let (code, out, err) = shell.berth(&["submit", "--json", "-"], large).await.ok()?;
        (code == 0 && err.contains("the largest has 16000")).then_some((out, err))
    };
    let limit = Duration::from_secs(10);
    let (id, err) = poll::until_some("a warning", limit, submitted).await?;
    assert!(err.starts_with("berth: warning: no executor of the pool `default`"), "{err}");
    assert_eq!(id.lines().count(), 1, "the id alone is on standard output: {id}");

    let lines = format!("{large}\n{{\"run\":{{\"noop\":{{}}}}}}\n{large}\n");
    let (code, out, err) = shell.berth(&["submit", "--file", "-"], &lines).await?;
    assert_eq!((code, out.lines().count()), (0, 3), "{err}");
    assert!(err.contains("warning: 2 tasks, the first in line 1: no executor"), "{err}");

    let line = ["get", "--wait", id.trim()];
    let waits = shell.berth(&line, "");
    let cancels = async {
        clock::sleep(Duration::from_secs(5)).await;
        shell.berth(&["cancel", id.trim()], "").await
    };
    let (waited, cancelled) = tokio::join!(waits, cancels);
    let ((code, _, err), _) = (waited?, cancelled?);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("No executor of its pool is large enough"), "{err}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn levers_start_mark_and_retry_tasks_that_would_wait_an_hour() -> anyhow::Result<()> {
    let cluster = Cluster::start(Shape::default()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let shell = Shell::new(&cluster, customer.key())?;
    let done = async |line: &[&str]| {
        let (code, out, err) = shell.berth(line, "").await?;
        anyhow::ensure!(code == 0, "{line:?} ended with {code}: {err}");
        anyhow::Ok(out.trim().to_owned())
    };

    // One that is due in an hour, changed and started now: with the new environment, for the time it was for.
    let script = "echo \"$A for $BERTH_DUE_AT\"";
    let submit = ["submit", "--delay", "1h", "--env", "A=1", "--", "bash", "-c", script];
    let later = done(&submit).await?;
    let due = customer.get(&later).await?["due_at"].clone();
    let changed = done(&["change", &later, "--env", "A=2", "--priority", "5"]).await?;
    assert_eq!(changed, format!("{later} scheduled, version 2"));
    let (code, _, err) =
        shell.berth(&["change", &later, "--priority", "1", "--if-version", "1"], "").await?;
    assert!(code == 1 && err.contains("version 2"), "{code} {err}");
    assert_eq!(done(&["run-now", &later]).await?, format!("{later} ready"));
    done(&["get", "--wait", &later]).await?;
    let logs = done(&["logs", &later]).await?;
    assert!(logs.starts_with("2 for "), "{logs}");
    let ended = customer.get(&later).await?;
    assert_eq!(
        (&ended["due_at"], &ended["priority"], &ended["attempts"]),
        (&due, &json!(5), &json!(1))
    );

    // One that was done by hand.
    let manual = done(&["submit", "--delay", "1h", "--noop"]).await?;
    let marked = done(&["mark-succeeded", &manual, "--note", "loaded by hand"]).await?;
    assert_eq!(marked, format!("{manual} succeeded"));
    let ended = customer.get(&manual).await?;
    assert_eq!(
        (&ended["reason"], &ended["attempts"]),
        (&json!("marked as succeeded: loaded by hand"), &json!(0))
    );

    // One that failed, whose next attempt is an hour away.
    let mended = cluster.folder().join("mended");
    let script = format!("[ -e {} ]", mended.display());
    let task = json!({"run": {"command": {"argv": ["bash", "-c", script]}}, "max_attempts": 3,
        "retry": {"backoff": "constant", "initial": "1h", "max": "1h", "jitter": false}});
    let (status, failing) = customer.call("POST", "/v1/tasks", Some(&task), None).await?;
    assert_eq!(status, 201, "{failing}");
    let failing = failing["id"].as_str().context("an id")?.to_owned();
    let waits = async || {
        let task = customer.get(&failing).await;
        task.is_ok_and(|task| task["state"] == "retrying")
    };
    poll::until("its first attempt to have failed", Duration::from_secs(30), waits).await?;
    std::fs::write(&mended, "")?;
    assert_eq!(done(&["retry", &failing]).await?, failing);
    done(&["get", "--wait", &failing]).await?;
    let ended = customer.get(&failing).await?;
    assert_eq!((&ended["attempts"], &ended["failures"]), (&json!(2), &json!(1)));

    // One that has ended is run again as a new one, and is no other any more.
    let again = done(&["retry", &failing]).await?;
    assert_ne!(again, failing);
    done(&["get", "--wait", &again]).await?;
    let shown: Value = serde_json::from_str(&done(&["get", &again, "--output", "json"]).await?)?;
    assert_eq!((&shown["rerun_of"], &shown["state"]), (&json!(failing), &json!("succeeded")));
    let (code, _, err) = shell.berth(&["change", &again, "--priority", "1"], "").await?;
    assert!(code == 1 && err.contains("rerun"), "{code} {err}");

    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(30)).await?;
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
    Ok(())
}
