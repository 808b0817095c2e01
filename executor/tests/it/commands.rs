//! What a command gets, and how its end is told.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use domain::task::{MAX_COMMAND_BYTES, MAX_STRING, check_command_size};
use nix::unistd::geteuid;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use protocol::{Capacity, assignment};
use runtime::clock;
use std::collections::BTreeMap;

in_both_modes! {
    a_command_gets_its_environment_input_and_folder_and_nothing_else,
    exit_codes_and_signals_are_told_exactly,
    what_cannot_be_run_is_told_apart,
    a_command_opens_its_own_streams_by_their_names,
    the_largest_command_that_the_api_takes_runs_and_no_larger_one_does,
}

async fn a_command_opens_its_own_streams_by_their_names(isolation: &str) {
    for home in [Home::new(), Home::unprivileged()] {
        let rm = Rm::start().await;
        let settings = [("EXECUTOR__ISOLATION", isolation)];
        let _agent = Agent::start_with(&home, &[&rm.address], &settings);
        rm.hello(0).await;
        let script = "set -e; cat /dev/stdin; echo a > /dev/stdout; echo b > /dev/stderr; echo c > /proc/self/fd/1
                      echo d > /dev/fd/2; echo e | tee /dev/stderr; echo f | tee -a /proc/$$/fd/2";
        let run = serde_json::json!({"command": {"argv": ["bash", "-c", script], "stdin": "in\n"}});
        let lease = rm.assign(&run.to_string());
        let result = rm.result(lease).await;
        let (out, err) =
            (rm.output_text(lease, Stream::Stdout), rm.output_text(lease, Stream::Stderr));
        assert_eq!(outcome(&result), Outcome::Succeeded, "{out}{err}");
        assert_eq!((out.as_str(), err.as_str()), ("in\na\nc\ne\nf\n", "b\nd\ne\nf\n"));
    }
}

async fn a_command_gets_its_environment_input_and_folder_and_nothing_else(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let run = serde_json::json!({"command": {
        "argv": ["bash", "-c", "env | sort; echo in:$(cat); pwd; echo folder:$(ls -A | wc -l); echo oops >&2"],
        "env": {"A": "1 2", "PATH": "/usr/bin:/bin"},
        "stdin": "some\ninput",
    }});
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let lease = rm.assign_with(&run.to_string(), |assignment| {
        assignment.traceparent = trace.to_owned();
        assignment.resources =
            Some(Capacity { port_first: 20_001, port_count: 2, ..Capacity::default() });
        // A microsecond before 2030-01-31T02:30Z.
        assignment.due_at_us = Some(1_896_057_000_000_000 - 1);
        assignment.schedule = Some("report".to_owned());
    });
    let result = rm.result(lease).await;
    assert_eq!(
        (outcome(&result), result.exit_code, result.signal),
        (Outcome::Succeeded, Some(0), None)
    );
    let own = home.path().join(format!("data/work/{}-1", lease.task));
    let folder = if agent.isolates().await { "/work" } else { own.to_str().unwrap() };
    let stdout = rm.output_text(lease, Stream::Stdout);
    let own = ["PWD=", "SHLVL=", "_=", "OLDPWD="];
    let lines: Vec<&str> =
        stdout.lines().filter(|line| !own.iter().any(|name| line.starts_with(name))).collect();
    let wanted = format!(
        "A=1 2\nBERTH_ATTEMPT=1\nBERTH_DUE_AT=2030-01-31T02:29:59.999999Z\nBERTH_PORT_COUNT=2\nBERTH_PORT_FIRST=20001\n\
         BERTH_RESULT={folder}/.berth-result.json\nBERTH_SCHEDULE=report\nBERTH_TASK_ID={}\nHOME={folder}\nPATH=/usr/bin:/bin\nTRACEPARENT={trace}\nin:some input\n{folder}\nfolder:0",
        lease.task
    );
    assert_eq!(lines.join("\n"), wanted);
    assert_eq!(rm.output_text(lease, Stream::Stderr), "oops\n");
    assert_eq!((result.stdout_bytes, result.stderr_bytes), (stdout.len() as u64, 5));
    until("the work folder is removed", LIMIT, || home.work_folders() == 0).await;
}

#[tokio::test]
async fn a_command_runs_unprivileged_with_plain_signals_and_only_three_files() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let script = format!(
        "id -u; id -G; touch mine; stat -c %u:%a .; grep -E '^(NoNewPrivs|SigBlk|SigIgn|CapEff):' /proc/self/status; \
         ls /proc/self/fd | tr '\\n' ' '; cat /proc/{0}/environ 2>&1; cat {1} 2>&1; cat /proc/$PPID/environ 2>&1; kill -9 $PPID 2>&1",
        agent.pid(),
        home.spool().display(),
    );
    let lease = rm.assign(&bash(&script));
    let result = rm.result(lease).await;
    let stdout = rm.output_text(lease, Stream::Stdout);
    assert!(stdout.contains("NoNewPrivs:\t1"), "{stdout}");
    assert!(stdout.contains("SigBlk:\t0000000000000000"), "{stdout}");
    let ignored = stdout
        .split("SigIgn:\t")
        .nth(1)
        .and_then(|rest| u64::from_str_radix(rest.get(..16)?, 16).ok());
    // 32 and 33 belong to the C library, which lets nobody change them.
    assert_eq!(ignored.map(|set| set & !(0b11 << 31)), Some(0), "{stdout}");
    assert!(stdout.contains("\n0 1 2 3 "), "{stdout}");
    assert!(!stdout.contains(crate::rm::SECRET), "{stdout}");
    if geteuid().is_root() {
        let uid: u32 = stdout.lines().next().unwrap().parse().unwrap();
        assert!(stdout.starts_with(&format!("{uid}\n{uid}\n{uid}:700\n")), "{stdout}");
        assert!((2_000_000_000..=2_000_065_535).contains(&uid), "{stdout}");
        assert!(stdout.contains("CapEff:\t0000000000000000"), "{stdout}");
        assert_eq!(stdout.matches("Permission denied").count(), 3, "{stdout}");
        assert!(stdout.contains("Operation not permitted"), "{stdout}");
        assert_eq!(outcome(&result), Outcome::Failed);
    }
}

async fn exit_codes_and_signals_are_told_exactly(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    for (script, exit_code, signal) in [
        ("exit 3", Some(3), None),
        ("exit 137", Some(137), None),
        ("exit 255", Some(255), None),
        ("kill -9 $$", None, Some(9)),
        ("kill -TERM $$", None, Some(15)),
        ("kill -34 $$", None, Some(34)),
    ] {
        let result = rm.result(rm.assign(&bash(script))).await;
        assert_eq!(outcome(&result), Outcome::Failed, "{script}");
        assert_eq!((result.exit_code, result.signal), (exit_code, signal), "{script}");
        assert!(result.reason.starts_with("ended "), "{}", result.reason);
    }
}

async fn the_largest_command_that_the_api_takes_runs_and_no_larger_one_does(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let script = "echo $# ${#1} ${#BERTH_GIVEN}; for a; do :; done; echo ${#a}";
    let command = |arguments: &[usize], (name, variable): (&str, usize)| {
        let given = arguments.iter().map(|length| "a".repeat(*length));
        let argv: Vec<String> =
            ["bash", "-c", script, "x"].map(str::to_owned).into_iter().chain(given).collect();
        let env = BTreeMap::from([(name.to_owned(), "v".repeat(variable))]);
        assert_eq!(check_command_size(&argv, &env), Ok(()));
        serde_json::json!({"command": {"argv": argv, "env": env}}).to_string()
    };
    // The longest argument and, with its name, the longest variable; then as much as is taken of all together, whose variables
    // bubblewrap is given, too, where they are named like Berth's own.
    let longest = MAX_STRING - "BERTH_GIVEN=".len();
    let mut full = vec![MAX_STRING; 13];
    let counted = |text: usize| text + 9;
    let frame: usize = ["bash", "-c", script, "x"].iter().map(|text| counted(text.len())).sum();
    full.push(MAX_COMMAND_BYTES - frame - 14 * counted(MAX_STRING) - 9);
    for (arguments, variable) in [(vec![MAX_STRING], longest), (full, longest)] {
        let lease = rm.assign(&command(&arguments, ("BERTH_GIVEN", variable)));
        let result = rm.result(lease).await;
        assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
        let (count, last) = (arguments.len(), arguments[arguments.len() - 1]);
        let said = rm.output_text(lease, Stream::Stdout);
        assert_eq!(said, format!("{count} {MAX_STRING} {variable}\n{last}\n"));
    }
    for refused in [command(&[MAX_STRING + 1], ("A", 1)), command(&[1], ("A", MAX_STRING - 1))] {
        let result = rm.result(rm.assign(&refused)).await;
        assert_eq!(outcome(&result), Outcome::Failed);
        assert!(result.reason.contains("Argument list too long"), "{}", result.reason);
    }
}

async fn what_cannot_be_run_is_told_apart(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    for (run, wanted, reason) in [
        (r#"{"container":{"image":"x"}}"#, Outcome::NotStarted, "no driver `container`"),
        (r#"{"command":{"argv":"x"}}"#, Outcome::Failed, "malformed run"),
        ("not json", Outcome::Failed, "malformed run"),
        (r#"{"command":{"argv":[]}}"#, Outcome::Failed, "could not be started: no program"),
        (
            r#"{"command":{"argv":["/no/such"]}}"#,
            Outcome::Failed,
            "could not be started: No such file",
        ),
        (
            r#"{"command":{"argv":["/etc/passwd"]}}"#,
            Outcome::Failed,
            "could not be started: Permission denied",
        ),
        (r#"{"command":{"argv":["a\u0000b"]}}"#, Outcome::Failed, "could not be started"),
    ] {
        let result = rm.result(rm.assign(run)).await;
        assert_eq!(outcome(&result), wanted, "{run}: {}", result.reason);
        assert!(result.reason.contains(reason), "{run}: {}", result.reason);
    }
    // A resource manager of an earlier release sends the JSON.
    let json = assignment::Run::RunJson(bash("exit 3"));
    let earlier = rm.assign_with(&bash("true"), |assignment| assignment.run = Some(json));
    assert_eq!(rm.result(earlier).await.exit_code, Some(3));
    let no_cap = rm.assign_with(&bash("true"), |assignment| assignment.cap_ms = 0);
    assert_eq!(outcome(&rm.result(no_cap).await), Outcome::Failed);
}

#[tokio::test]
async fn an_attempt_is_accepted_before_anything_else_of_it_is_told() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("echo hi"));
    rm.result(lease).await;
    let kinds: Vec<&str> = rm
        .heard()
        .iter()
        .filter_map(|one| match &one.message {
            protocol::from_executor::Message::Accepted(_) => Some("accepted"),
            protocol::from_executor::Message::Output(_) => Some("output"),
            protocol::from_executor::Message::Results(_) => Some("results"),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["accepted", "output", "results"]);
}

#[tokio::test]
async fn what_the_executor_cannot_start_is_no_fault_of_the_task() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    std::fs::remove_dir(home.path().join("data/work")).unwrap();
    let result = rm.result(rm.assign(&bash("true"))).await;
    assert_eq!(outcome(&result), Outcome::NotStarted);
    assert!(result.reason.starts_with("no work folder"), "{}", result.reason);
}

#[tokio::test]
async fn many_at_once_start_in_turn_and_none_is_billed_for_its_wait() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let cores = std::thread::available_parallelism().unwrap().get();
    let began = clock::monotonic();
    // Twenty times what may start at once.
    let leases = rm.assign_many(r#"{"command":{"argv":["true"]}}"#, 80 * cores);
    let mut billed = Vec::new();
    for lease in leases {
        billed.push(rm.result(lease).await.ran_ms);
    }
    let whole_ms = u64::try_from(began.elapsed().as_millis()).unwrap();
    billed.sort_unstable();
    // Billed from their arrival, half of them would be billed for about half of it all.
    let middle = billed[billed.len() / 2];
    assert!(middle < whole_ms / 4, "{middle} ms in the middle, and all took {whole_ms} ms");
}
