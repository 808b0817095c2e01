//! The binary itself, without any server: what it says and with which code it ends.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

/// `berth` with nothing of Berth in its environment but `variables`.
fn berth(line: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BERTH_"))
    {
        command.env_remove(name);
    }
    command.args(line).envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// An address where nobody listens.
fn nowhere() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

#[test]
fn without_a_key_it_is_not_allowed_and_says_how_to_give_one() {
    for key in [&[][..], &[("BERTH_API_KEY", "")][..]] {
        let (code, text) = said(&berth(&["list"], key));
        assert_eq!(code, Some(4), "{text}");
        assert!(text.contains("BERTH_API_KEY"), "{text}");
    }
}

#[test]
fn a_server_that_is_away_is_told_with_a_way_to_repeat_the_submit_safely() {
    let server = nowhere();
    let settings = [("BERTH_SERVER", server.as_str()), ("BERTH_API_KEY", "hunter2")];
    let (code, text) = said(&berth(&["submit", "--noop", "--idempotency-key", "mine"], &settings));
    assert_eq!(code, Some(5), "{text}");
    assert!(
        text.contains(&server)
            && text.contains("--idempotency-key mine")
            && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_understood_ends_with_the_code_for_usage() {
    assert_eq!(said(&berth(&["get", "7"], &[])).0, Some(2));
    assert_eq!(
        said(&berth(&["list"], &[("BERTH_SERVER", "nowhere"), ("BERTH_API_KEY", "k")])).0,
        Some(2)
    );
    assert_eq!(
        said(&berth(&["submit", "--json", "/does/not/exist"], &[("BERTH_API_KEY", "k")])).0,
        Some(2)
    );
}

#[test]
fn the_help_lists_the_exit_codes_and_not_the_key() {
    let help = berth(&["submit", "--help"], &[("BERTH_API_KEY", "hunter2")]);
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(
        help.status.success()
            && text.contains("berth submit --json task.json")
            && !text.contains("hunter2")
    );
    let help = String::from_utf8(berth(&["--help"], &[]).stdout).unwrap();
    assert!(help.contains("Exit codes:"), "{help}");
}

#[test]
fn a_role_with_a_setting_that_does_not_exist_does_not_start() {
    let (code, text) = said(&berth(&["scheduler"], &[("BERTH_SCHEDULER__LISTN", "127.0.0.1:0")]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("scheduler.listen"), "{text}");
}

#[test]
fn a_role_of_its_own_does_not_start_on_a_bus_that_ends_with_the_process() {
    for role in ["scheduler", "resource-manager"] {
        let output = berth(&[role], &[("BERTH_BUS__KIND", "in_process")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("bus.kind"));
    }
}

#[test]
fn an_executor_without_its_secret_says_which_setting_is_missing() {
    let output = berth(&["executor"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("BERTH_AUTH__EXECUTOR_SECRET"));
}
