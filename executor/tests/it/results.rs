//! What a command and a call return.

use crate::agent::{Agent, Home};
use crate::called::{Called, answer, get};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use protocol::result::Outcome;
use protocol::result_answer::Verdict;
use std::fs;

in_both_modes! {
    a_command_returns_what_it_has_written,
    a_result_that_cannot_be_kept_fails_the_attempt_with_its_reason,
    whatever_is_no_regular_file_is_not_read,
    what_has_not_succeeded_returns_nothing,
    what_a_closed_work_folder_holds_is_no_result,
}

fn value(result: &protocol::Result) -> Option<&str> {
    result.value.as_deref().map(|value| std::str::from_utf8(value).unwrap())
}

/// What becomes of a script.
async fn ends(rm: &Rm, script: &str) -> protocol::Result {
    rm.result(rm.assign(&bash(script))).await
}

async fn a_command_returns_what_it_has_written(isolation: &str) {
    for home in [Home::new(), Home::unprivileged()] {
        let rm = Rm::start().await;
        let settings = [("EXECUTOR__ISOLATION", isolation)];
        let _agent = Agent::start_with(&home, &[&rm.address], &settings);
        rm.hello(0).await;
        for (script, wanted) in [
            ("test ! -e $BERTH_RESULT", None),
            ("echo '{\"a\": [1, 2]}' > $BERTH_RESULT", Some("{\"a\": [1, 2]}")),
            ("cd /; echo null > $BERTH_RESULT", Some("null")),
            ("echo 1e400 > $BERTH_RESULT; printf 2 > $BERTH_RESULT", Some("2")),
            ("printf '\"\\\\u0000\"' > $BERTH_RESULT", Some("\"\\u0000\"")),
            // By whoever of it: what was left running is over before the file is read.
            ("(sleep 0.1; echo 7 > $BERTH_RESULT) & wait", Some("7")),
            ("echo 8 > new; chmod 400 new; mv new $BERTH_RESULT", Some("8")),
            ("echo 9 > $BERTH_RESULT; rm $BERTH_RESULT", None),
        ] {
            let result = ends(&rm, script).await;
            assert_eq!(outcome(&result), Outcome::Succeeded, "{script}: {}", result.reason);
            assert_eq!((value(&result), result.exit_code), (wanted, Some(0)), "{script}");
        }
        let largest = ends(&rm, "printf '\"%65534s\"' x > $BERTH_RESULT").await;
        assert_eq!(value(&largest).map(str::len), Some(65_536), "{}", largest.reason);
    }
}

async fn a_result_that_cannot_be_kept_fails_the_attempt_with_its_reason(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    for (script, reason) in [
        ("echo hello > $BERTH_RESULT", "is not JSON: expected value at line 1 column 1"),
        (": > $BERTH_RESULT", "is not JSON: EOF while parsing a value at line 1 column 0"),
        ("printf '\"\\xff\"' > $BERTH_RESULT", "is not JSON: not UTF-8 from byte 1 on"),
        ("printf '%70000s' 1 > $BERTH_RESULT", "has 70000 bytes; at most 65536 are allowed"),
        // Sparse: much larger than what it takes.
        ("truncate -s 200M $BERTH_RESULT", "has 209715200 bytes; at most 65536 are allowed"),
        (
            "printf '[%.0s' {1..128} > $BERTH_RESULT; printf ']%.0s' {1..128} >> $BERTH_RESULT",
            "has more than 127 arrays and objects inside each other",
        ),
    ] {
        let result = ends(&rm, script).await;
        assert_eq!(outcome(&result), Outcome::Failed, "{script}");
        assert_eq!(result.reason, format!("its result in $BERTH_RESULT {reason}"), "{script}");
        assert_eq!((value(&result), result.exit_code), (None, Some(0)), "{script}");
    }
}

async fn whatever_is_no_regular_file_is_not_read(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let spool = home.spool();
    fs::write(home.path().join("secret"), "1").unwrap();
    let outside = format!("ln -s {}/secret $BERTH_RESULT", home.path().display());
    let own = format!("ln -s {} $BERTH_RESULT", spool.display());
    for (script, reason) in [
        (outside.as_str(), "is a symbolic link; it must be a regular file"),
        (&own, "is a symbolic link; it must be a regular file"),
        ("echo 1 > x; ln -s x $BERTH_RESULT", "is a symbolic link; it must be a regular file"),
        ("ln -s /dev/zero $BERTH_RESULT", "is a symbolic link; it must be a regular file"),
        ("mkdir $BERTH_RESULT", "is a folder; it must be a regular file"),
        ("mkfifo $BERTH_RESULT", "is a named pipe; it must be a regular file"),
        (
            "mkfifo $BERTH_RESULT; (echo 1 > $BERTH_RESULT) & disown",
            "is a named pipe; it must be a regular file",
        ),
    ] {
        let result = ends(&rm, script).await;
        assert_eq!(outcome(&result), Outcome::Failed, "{script}");
        assert_eq!(result.reason, format!("its result in $BERTH_RESULT {reason}"), "{script}");
        assert_eq!(value(&result), None, "{script}");
    }
    let result = ends(&rm, "echo 1 > $BERTH_RESULT").await;
    assert_eq!(value(&result), Some("1"), "the agent goes on");
    until("all work folders are removed", LIMIT, || home.work_folders() == 0).await;
}

async fn what_has_not_succeeded_returns_nothing(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    for (script, reason) in [
        ("echo 1 > $BERTH_RESULT; exit 3", "ended with exit code 3"),
        ("echo hello > $BERTH_RESULT; exit 3", "ended with exit code 3"),
        ("echo 1 > $BERTH_RESULT; kill -9 $$", "ended by signal 9"),
    ] {
        let result = ends(&rm, script).await;
        assert_eq!((outcome(&result), value(&result)), (Outcome::Failed, None), "{script}");
        assert_eq!(result.reason, reason, "{script}");
    }
    let script = "trap 'exit 0' TERM; echo 1 > $BERTH_RESULT; echo ready; sleep 60 & wait";
    let capped = rm.assign_with(&bash(script), |assignment| assignment.cap_ms = 300);
    let result = rm.result(capped).await;
    assert_eq!((outcome(&result), value(&result)), (Outcome::KilledCap, None));
    let stopped = rm.assign(&bash(script));
    until("it runs", LIMIT, || !rm.chunks(stopped).is_empty()).await;
    rm.stop(stopped);
    let result = rm.result(stopped).await;
    assert_eq!((outcome(&result), value(&result)), (Outcome::Stopped, None));
}

async fn what_a_closed_work_folder_holds_is_no_result(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::unprivileged());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let result = ends(&rm, "chmod 000 .").await;
    assert_eq!((outcome(&result), value(&result)), (Outcome::Succeeded, None), "{}", result.reason);
    // A file that is there and cannot be read is told, where the executor has no right to read it all the same.
    let result = ends(&rm, "echo 1 > $BERTH_RESULT; chmod 000 $BERTH_RESULT").await;
    if outcome(&result) == Outcome::Succeeded {
        assert_eq!(value(&result), Some("1"));
    } else {
        let reason = "its result in $BERTH_RESULT cannot be read: Permission denied";
        assert_eq!((result.reason.as_str(), value(&result)), (reason, None));
    }
}

#[tokio::test]
async fn a_value_survives_the_agent_and_is_told_by_the_next_boot() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("printf '\"%65534s\"' x > $BERTH_RESULT"));
    let first = rm.result(lease).await;
    assert_eq!(value(&first).map(str::len), Some(65_536));
    agent.kill9();
    let told = rm.results(lease).len();
    rm.change(|script| script.verdict = Some(Verdict::Repeated));
    let _agent = Agent::start(&home, &[&rm.address]);
    until("it is told again", LIMIT, || rm.results(lease).len() > told).await;
    assert_eq!(rm.results(lease).pop().unwrap(), first);
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
}

#[tokio::test]
async fn many_large_values_are_told_without_breaking_the_stream() {
    let rm = Rm::start_with(|script| (script.private_targets, script.verdict) = (true, None)).await;
    let home = Home::new();
    let json = format!("\"{}\"", "x".repeat(65_000));
    let called =
        Called::start(move |_, _| answer("200 OK", "Content-Type: application/json\r\n", &json))
            .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let leases = rm.assign_many(&get(&called.url("/")), 300);
    for lease in &leases {
        let result = rm.result(*lease).await;
        assert_eq!(value(&result).map(str::len), Some(65_002), "{}", result.reason);
    }
    // On the next stream all of them are told at once, 20 MB.
    let told: Vec<_> = leases.iter().map(|lease| rm.results(*lease).len()).collect();
    rm.change(|script| script.verdict = Some(Verdict::Applied));
    rm.hang_up();
    rm.hello(1).await;
    for (lease, told) in leases.iter().zip(told) {
        until("it is told again", LIMIT, || rm.results(*lease).len() > told).await;
    }
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
    assert_eq!(crate::rm::hellos(&rm.heard()).count(), 2, "one stream for all");
}

#[tokio::test]
async fn a_call_returns_the_body_of_its_answer_where_that_is_json() {
    let rm = Rm::start_with(|script| script.private_targets = true).await;
    let (home, json) = (Home::new(), "Content-Type: application/json; charset=utf-8\r\n");
    let large = format!("\"{}\"", "x".repeat(65_536));
    let called = Called::start(move |path, _| match path {
        "/json" => answer("200 OK", json, "{\"a\":1}\n"),
        "/problem" => answer("200 OK", "content-type: application/problem+json\r\n", "[]"),
        "/text" => answer("200 OK", "Content-Type: text/plain\r\n", "1"),
        "/bare" => answer("200 OK", "", "1"),
        "/broken" => answer("200 OK", json, "{\"a\":"),
        "/large" => answer("200 OK", json, &large),
        "/empty" => answer("200 OK", json, ""),
        "/failed" => answer("500 Oops", json, "1"),
        "/moved" => answer("302 Found", &format!("{json}Location: /text\r\n"), "1"),
        other => panic!("{other}"),
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    for (path, wanted) in [
        ("/json", Some("{\"a\":1}")),
        ("/problem", Some("[]")),
        ("/text", None),
        ("/bare", None),
        ("/broken", None),
        ("/large", None),
        ("/empty", None),
        ("/failed", None),
        ("/moved", None),
    ] {
        let result = rm.result(rm.assign(&get(&called.url(path)))).await;
        let good = if path == "/failed" { Outcome::Failed } else { Outcome::Succeeded };
        assert_eq!((outcome(&result), value(&result)), (good, wanted), "{path}: {}", result.reason);
    }
}
