//! `berth up` from outside: what it says, what it keeps, what it leaves behind.

use e2e::{Pace, Up, UpCommand};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::Duration;
use testkit::poll;

/// Where something hangs, the test ends; how long it takes is asked in [`alone`].
const SOON: Duration = Duration::from_secs(60);
/// `berth up` is ready 5 s after the start on an empty folder and 2 s after any other; a debug build may take three times as long.
const COLD: Duration = Duration::from_secs(5 * 3);
const WARM: Duration = Duration::from_secs(2 * 3);

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Submits a task and waits for its end.
async fn to_its_end(up: &Up, task: &Value) -> anyhow::Result<Value> {
    let customer = up.customer()?;
    let id = customer.submit_until_answered(task, "one").await?;
    ended(up, &id).await
}

async fn ended(up: &Up, id: &str) -> anyhow::Result<Value> {
    let customer = up.customer()?;
    let task = poll::until_some(&format!("the end of {id}"), SOON, || async {
        let task = customer.get(id).await.ok()?;
        (!task["finished_at"].is_null()).then_some(task)
    })
    .await;
    task.map_err(|error| error.context(up.log()))
}

fn echo() -> Value {
    json!({"run": {"command": {"argv": ["sh", "-c", "echo hi"]}}})
}

async fn nothing_is_left(command: &UpCommand) -> anyhow::Result<()> {
    poll::until("every process to be gone", SOON, || async { command.processes().is_empty() }).await
}

/// C14: every port of every process, engines included, is this machine's own.
fn only_this_machine_is_listened_on(
    command: &UpCommand,
    up: &Up,
    ports: usize,
) -> anyhow::Result<()> {
    let listens = command.listens_on(up)?;
    eprintln!("{listens:?}");
    assert!(listens.len() >= ports, "{listens:?}");
    assert!(listens.iter().all(|address| address.ip().is_loopback()), "{listens:?}");
    Ok(())
}

/// What the process measures is documented. testkit/tests/observability.rs says the same of all that its source declares; this shows
/// that it finds the declarations.
async fn its_metrics_are_documented(command: &UpCommand, up: &Up) -> anyhow::Result<()> {
    let page = |name| std::fs::read_to_string(testkit::settings::workspace().join(name));
    let pages = page("docs/observability.md")? + &page("docs/limits.md")?;
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    for port in command.listens_on(up)? {
        let Ok(answer) = http.get(format!("http://{port}/metrics")).send().await else { continue };
        if answer.status() != 200 {
            continue;
        }
        let text = answer.text().await?;
        let families =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        let (known, unknown): (Vec<&str>, Vec<&str>) = families.partition(|name| {
            pages.contains(&format!("`{name}`")) || pages.contains(&format!("`{name}{{"))
        });
        assert!(known.len() > 40 && unknown.is_empty(), "{known:?} and without docs: {unknown:?}");
        return Ok(());
    }
    anyhow::bail!("no address has metrics without a key")
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn it_listens_on_this_machine_only_and_does_nothing_without_a_key() -> anyhow::Result<()>
    {
        let command = UpCommand::new()?;
        let mut up = command.start().await?;
        only_this_machine_is_listened_on(&command, &up, 3)?;
        let _installed_before = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::new();
        for port in command.listens_on(&up)? {
            // What speaks no HTTP answers nothing that this client takes for an answer.
            let tasks = format!("http://{port}/v1/tasks");
            if let Ok(answer) = http.post(&tasks).json(&echo()).send().await {
                let refused = [401, 403, 404, 405].contains(&answer.status().as_u16());
                assert!(refused, "{port}: {answer:?}");
            }
        }
        let refused = http.post(format!("{}/v1/tasks", up.url()?)).json(&echo()).send().await?;
        assert_eq!(refused.status(), 401);
        up.term(SOON).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_says_one_line_runs_a_task_and_leaves_no_process() -> anyhow::Result<()> {
        let command = UpCommand::new()?;
        let mut up = command.start().await?;
        let mut names: Vec<_> = up.said().as_object().into_iter().flatten().map(|f| f.0).collect();
        names.sort_unstable();
        assert_eq!(names, ["api_key", "profile", "tenant", "url"]);
        assert_eq!(up.profile(), "embedded");
        let task = to_its_end(&up, &echo()).await?;
        assert_eq!(task["state"], "succeeded", "{task}");
        its_metrics_are_documented(&command, &up).await?;
        up.term(SOON).await?;
        assert_eq!(command.processes(), Vec::<u32>::new());
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn tasks_of_mixed_sizes_follow_each_other_as_closely_as_those_of_one_size()
    -> anyhow::Result<()> {
        let command = [("CPU_MILLIS", "2000"), ("MEMORY_MIB", "32768"), ("DISK_MIB", "102400")]
            .into_iter()
            .fold(UpCommand::new()?, |command, (name, value)| {
                command.env(&format!("BERTH_EXECUTOR__{name}"), value)
            });
        let mut up = command.start().await?;
        Pace::of_sizes_that_do_not_divide_it(&up.customer()?).await?;
        up.term(SOON).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn its_operators_have_a_file_for_their_commands_while_it_runs() -> anyhow::Result<()> {
        let command = UpCommand::new()?;
        let mut up = command.start().await?;
        let file = command.data().join("operator.env");
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file)?);
        assert_eq!(mode & 0o077, 0, "nobody else may read it");
        let line = format!(". '{}' && berth doctor && berth admin pool list", file.display());
        let said = tokio::process::Command::new("sh").args(["-c", &line]).output().await?;
        let (out, err) =
            (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success(), "{out}{err}");
        assert!(out.contains("queue_arguments") && out.contains("default"), "{out}{err}");
        up.close_terminal(SOON).await?;
        assert!(!file.exists() && !command.data().join("client.env").exists());
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_next_start_goes_on_with_the_data_after_an_end_and_after_a_kill()
    -> anyhow::Result<()> {
        // Work that was lost is due again when the term of its session is over: longer than a busy machine stands still.
        let command = UpCommand::new()?.env("BERTH_RESOURCE_MANAGER__LEASE_TERM", "10s");
        let mut up = command.start().await?;
        let key = up.key()?.to_owned();
        let first = to_its_end(&up, &echo()).await?;
        up.term(SOON).await?;

        let mut up = command.start().await?;
        assert_eq!(up.key()?, key, "the key stays");
        let id = first["id"].as_str().unwrap_or_default();
        assert_eq!(up.customer()?.get(id).await?["state"], "succeeded", "the tasks stay");
        // One that is in the middle of its run when all is killed runs again.
        let slow = json!({"run": {"command": {"argv": ["sleep", "2"]}}, "execution_cap": "60s"});
        let id = up.customer()?.submit_until_answered(&slow, "slow").await?;
        let customer = up.customer()?;
        poll::until("it to run", SOON, || async {
            customer.get(&id).await.is_ok_and(|task| task["state"] == "running")
        })
        .await?;
        up.kill9()?;

        let mut up = command.start().await?;
        assert_eq!(up.key()?, key);
        let task = ended(&up, &id).await?;
        assert_eq!((&task["state"], &task["attempts"]), (&json!("succeeded"), &json!(2)), "{task}");
        up.kill9()?;
        nothing_is_left(&command).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_second_on_a_folder_is_told_who_has_it() -> anyhow::Result<()> {
        let command = UpCommand::new()?;
        let up = command.start().await?;
        let (code, said) = command.refused().await?;
        assert_eq!(code, Some(1), "{said}");
        let who = format!("(pid {})", up.pid());
        assert!(said.contains(&who) && said.contains("--data-dir"), "{said}");
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_taken_port_is_refused_by_its_owners_name_where_it_was_asked_for()
    -> anyhow::Result<()> {
        let taken = TcpListener::bind("127.0.0.1:0")?;
        let address = taken.local_addr()?.to_string();
        let command = UpCommand::new()?.arg("--listen").arg(&address);
        let (code, said) = command.refused().await?;
        assert_eq!(code, Some(1), "{said}");
        let who = format!("(pid {})", std::process::id());
        assert!(said.contains(&address) && said.contains(&who), "{said}");
        nothing_is_left(&command).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_postgres_that_dies_comes_back() -> anyhow::Result<()> {
        let command = UpCommand::new()?;
        let mut up = command.start().await?;
        let pid = std::fs::read_to_string(command.data().join("postgres/data/postmaster.pid"))?;
        let pid: i32 = pid.lines().next().unwrap_or_default().parse()?;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)?;
        let task = to_its_end(&up, &echo()).await?;
        assert_eq!(task["state"], "succeeded", "{task}");
        up.term(SOON).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_ordinary_user_has_it_all_as_well() -> anyhow::Result<()> {
        if !is_root() {
            eprintln!("SKIPPED: only root can become another user");
            return Ok(());
        }
        let command = UpCommand::as_user("nobody")?;
        let mut up = command.start().await?;
        let task = to_its_end(&up, &echo()).await?;
        assert_eq!(task["state"], "succeeded", "{task}");
        up.kill9()?;
        nothing_is_left(&command).await?;
        let mut up = command.start().await?;
        up.term(SOON).await?;
        nothing_is_left(&command).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn root_may_keep_its_data_where_nobody_else_can_walk_to() -> anyhow::Result<()> {
        if !is_root() {
            eprintln!("SKIPPED: this is about data folders of root");
            return Ok(());
        }
        let command = UpCommand::new()?;
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::create_dir(command.data())?;
        std::fs::set_permissions(command.data(), closed)?;
        let mut up = command.start().await?;
        let task = to_its_end(&up, &echo()).await?;
        assert_eq!(task["state"], "succeeded", "{task}");
        up.term(SOON).await?;
        let engines = std::fs::read_to_string(command.data().join("engines"))?;
        let engines = std::path::Path::new(engines.trim());
        assert!(engines.starts_with("/var/lib/berth"), "{}", engines.display());
        std::fs::remove_dir_all(engines)?;
        Ok(())
    }

    /// What the broker's node goes by: 32 bytes of chance that only its user can read.
    fn erlang_cookie(command: &UpCommand) -> anyhow::Result<String> {
        let engines = std::fs::read_to_string(command.data().join("engines"))?;
        let file = std::path::Path::new(engines.trim()).join("rabbitmq/.erlang.cookie");
        let cookie = std::fs::read_to_string(&file)?;
        assert!(cookie.len() == 64 && cookie.bytes().all(|one| one.is_ascii_hexdigit()));
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file)?);
        assert_eq!(mode & 0o777, 0o400);
        Ok(cookie)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_full_each_role_is_a_process_and_a_killed_one_comes_back() -> anyhow::Result<()> {
        let counts = ["--full", "--executor", "2", "--scheduler", "2"];
        let command = counts.into_iter().fold(UpCommand::new()?, UpCommand::arg);
        let mut up = command.start().await?;
        assert_eq!(up.profile(), "full");
        only_this_machine_is_listened_on(&command, &up, 8)?;
        let task = to_its_end(&up, &echo()).await?;
        assert_eq!(task["state"], "succeeded", "{task}");
        let cookie = erlang_cookie(&command)?;
        let metrics = format!("{}/metrics", up.url()?);
        let file = command.data().join("operator.env");
        let create = "berth admin operator-key create --name prometheus --scope read";
        let line = format!(". '{}' && {create}", file.display());
        let made = tokio::process::Command::new("sh").args(["-c", &line]).output().await?;
        let operator = String::from_utf8(made.stdout)?;
        let operator = operator.trim();
        let client = reqwest::Client::new();
        poll::until("rate limits to be counted in the private Redis", SOON, || async {
            let asked = client.get(&metrics).bearer_auth(operator).send().await;
            let Ok(answer) = asked else { return false };
            answer.text().await.is_ok_and(|text| text.contains("\nberth_limit_local 0\n"))
        })
        .await?;

        let running = |role: &str| -> Vec<u32> {
            let is = |pid: &u32| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                line == format!("berth\0{role}\0").into_bytes()
            };
            command.processes().into_iter().filter(is).collect()
        };
        assert_eq!((running("scheduler").len(), running("executor").len()), (2, 2));
        let [api] = running("api")[..] else { anyhow::bail!("one api, not {:?}", running("api")) };
        let killed = nix::unistd::Pid::from_raw(i32::try_from(api)?);
        nix::sys::signal::kill(killed, nix::sys::signal::Signal::SIGKILL)?;
        poll::until("another api", SOON, || async {
            running("api").first().is_some_and(|pid| *pid != api)
        })
        .await?;
        let customer = up.customer()?;
        let id = customer.submit_until_answered(&echo(), "two").await?;
        assert_eq!(ended(&up, &id).await?["state"], "succeeded");
        let log = up.log();
        assert!(
            log.contains("scheduler-1        |") && log.contains("up                 |"),
            "{log}"
        );
        up.term(Duration::from_secs(40)).await?;
        nothing_is_left(&command).await?;

        // The broker syncs nothing: this is what a power cut may leave of it.
        let engines = std::fs::read_to_string(command.data().join("engines"))?;
        let kept = std::path::Path::new(engines.trim()).join("rabbitmq/mnesia/berth@localhost");
        std::fs::write(kept.join("schema.DAT"), "no database")?;
        let mut up = command.start().await?;
        assert!(!std::fs::read(kept.join("schema.DAT"))?.starts_with(b"no database"));
        assert_ne!(erlang_cookie(&command)?, cookie, "another at each start");
        up.kill9()?;
        nothing_is_left(&command).await
    }
}

/// Engines of its own, and nothing beside them: this is about seconds.
mod alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn it_is_ready_within_seconds_at_first_after_an_end_and_after_a_kill()
    -> anyhow::Result<()> {
        let command = UpCommand::new()?;
        let mut up = command.start().await?;
        let cold = up.took;
        up.term(SOON).await?;
        let mut up = command.start().await?;
        let warm = up.took;
        up.kill9()?;
        let mut up = command.start().await?;
        let after_a_kill = up.took;
        up.term(SOON).await?;
        eprintln!("ready: cold {cold:?}, warm {warm:?}, after a kill {after_a_kill:?}");
        assert!(cold <= COLD, "the first start took {cold:?}");
        assert!(warm <= WARM, "the second start took {warm:?}");
        assert!(after_a_kill <= WARM, "the start after a kill took {after_a_kill:?}");
        Ok(())
    }
}
