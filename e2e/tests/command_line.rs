//! The customer's commands against real processes: what a script sees, on which stream, with which exit code.

use anyhow::Context;
use e2e::{Cluster, Customer, Shape};
use std::process::{Output, Stdio};
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
    assert!(err.contains("ended failed with exit code 7"), "{err}");

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

    let (_, id, _) = shell.berth(&["submit", "--delay", "1h", "--noop"], "").await?;
    shell.berth(&["cancel", id.trim()], "").await?;
    let (code, _, err) = shell.berth(&["logs", "-f", id.trim()], "").await?;
    assert_eq!(code, 6, "{err}");
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
    assert!(listed.contains("berth sign-up") && listed.contains("read,submit,admin"), "{listed}");
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
    let (code, said, err) = shell.berth(&["users", "role", id, "developer"], "").await?;
    assert_eq!((code, said.trim()), (0, "ann@example.com is developer now"), "{err}");
    let (code, _, err) = shell.berth(&["users", "role", id, "owner"], "").await?;
    assert_eq!(code, 4, "a key makes no owners: {err}");
    assert_eq!(shell.berth(&["users", "remove", id], "").await?.0, 0);
    assert_eq!(shell.berth(&["users", "remove", id], "").await?.0, 3);

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
    assert!(plan.lines().last().is_some_and(|line| line.trim_end().ends_with("on")), "{plan}");
    Ok(())
}
