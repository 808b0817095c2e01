//! What is typed, and what is understood.

use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;
use domain::batch::Priority;
use std::time::Duration;

fn parsed(line: &[&str]) -> Result<Command, ErrorKind> {
    let line = ["berth"].iter().chain(line);
    Arguments::try_parse_from(line).map(|arguments| arguments.command).map_err(|error| error.kind())
}

fn submitted(line: &[&str]) -> Result<SubmitArguments, ErrorKind> {
    parsed(&[&["submit"], line].concat()).map(|command| match command {
        Command::Submit(task) => *task,
        other => panic!("{other:?}"),
    })
}

#[test]
fn the_commands_are_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn every_command_says_what_it_is_for_and_has_an_example() {
    fn walk(command: &clap::Command) {
        for inner in command.get_subcommands() {
            assert!(inner.get_about().is_some(), "{}", inner.get_name());
            let help = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{} has no example", inner.get_name());
            for argument in inner.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    inner.get_name(),
                    argument.get_id()
                );
            }
            walk(inner);
        }
    }
    walk(&Arguments::command());
}

#[test]
fn what_follows_two_dashes_is_the_command_word_for_word() {
    let task = submitted(&[
        "--env",
        "A=1=2",
        "--label",
        "team=media",
        "--",
        "bash",
        "-c",
        "echo $A",
        "--name",
    ])
    .unwrap();
    assert_eq!(task.task.command, ["bash", "-c", "echo $A", "--name"]);
    assert_eq!(task.task.env, [("A".to_owned(), "1=2".to_owned())]);
    assert_eq!(task.task.name, None);
}

#[test]
fn a_noop_has_a_duration_or_none() {
    assert_eq!(submitted(&["--noop"]).unwrap().task.noop, Some(Duration::ZERO));
    assert_eq!(
        submitted(&["--noop", "5s", "--name", "n"]).unwrap().task.noop,
        Some(Duration::from_secs(5))
    );
    assert!(submitted(&["--noop", "soon"]).is_err());
}

#[test]
fn a_task_is_exactly_one_of_command_noop_and_json() {
    assert_eq!(submitted(&["--name", "n"]).unwrap_err(), ErrorKind::MissingRequiredArgument);
    for line in [
        ["--noop", "1s", "--", "a"].as_slice(),
        &["--json", "f", "--", "a"],
        &["--json", "f", "--noop"],
        &["--json", "f", "--name", "n"],
        &["--delay", "1s", "--run-at", "2030-01-31T12:00:00Z", "--", "a"],
    ] {
        assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
    }
    assert_eq!(submitted(&["--script", "a.sh"]).unwrap().task.script.as_deref(), Some("a.sh"));
    assert_eq!(submitted(&["--script", "a.sh", "--", "x"]).unwrap().task.command, ["x"]);
    for line in [["--script", "f", "--noop"].as_slice(), &["--script", "f", "--json", "f"]] {
        assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
    }
    assert_eq!(submitted(&["--json", "-"]).unwrap().json.as_deref(), Some("-"));
    assert_eq!(submitted(&["--file", "-"]).unwrap().file.as_deref(), Some("-"));
    for line in [["--file", "f", "--follow"].as_slice(), &["--file", "f", "--name", "n"]] {
        assert_eq!(submitted(line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
    }
}

#[test]
fn whose_turn_it_is_may_be_said_in_three_ways() {
    let task =
        submitted(&["--priority", "-10", "--flexible", "--concurrency-key", "a/b", "--", "a"]);
    let task = task.unwrap().task;
    assert_eq!(task.priority, Priority::new(-10));
    assert_eq!(task.flexible, Some(true));
    assert_eq!(task.concurrency_key.unwrap().as_str(), "a/b");
    assert_eq!(submitted(&["--flexible", "false", "--", "a"]).unwrap().task.flexible, Some(false));
    assert_eq!(submitted(&["--noop"]).unwrap().task.flexible, None);
    for line in [["--priority", "1"].as_slice(), &["--flexible"], &["--concurrency-key", "a"]] {
        let line = [&["--file", "f"], line].concat();
        assert_eq!(submitted(&line).unwrap_err(), ErrorKind::ArgumentConflict, "{line:?}");
    }
}

#[test]
fn a_pause_says_why_and_a_limit_is_in_its_range() {
    let longest = "x".repeat(500);
    let pause =
        |because: &str| parsed(&["admin", "pool", "pause", "default", "--because", because]);
    assert!(pause(&longest).is_ok());
    for because in [String::new(), format!("{longest}x")] {
        assert_eq!(pause(&because).unwrap_err(), ErrorKind::ValueValidation);
    }
    assert!(parsed(&["admin", "pool", "pause", "default"]).is_err());
    assert!(parsed(&["concurrency", "set", "exports", "0"]).is_ok());
    assert!(parsed(&["concurrency", "set", "exports", "1000001"]).is_err());
    assert!(parsed(&["concurrency", "show", ".."]).is_err());
}

#[test]
fn what_only_a_command_has_is_refused_for_a_noop() {
    assert!(submitted(&["--noop", "--env", "A=1"]).is_err());
    assert!(submitted(&["--noop", "--stdin", "x"]).is_err());
}

#[test]
fn a_schedule_says_when_and_what_or_is_in_a_file() {
    let put = |line: &[&str]| parsed(&[&["schedule", "put", "report"], line].concat()).map(|_| ());
    for line in [
        ["--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--", "a", "--cron"].as_slice(),
        &["--cron", "@daily", "--every", "90s", "--noop"],
        &[
            "--daily",
            "09:00",
            "--overlap",
            "allow",
            "--misfire",
            "skip",
            "--paused",
            "--http",
            "https://a/",
        ],
        &["--json", "-", "--if-version", "3"],
        &["--file", "-"],
        &["--daily", "09:00", "--script", "a.sh"],
    ] {
        assert_eq!(put(line), Ok(()), "{line:?}");
    }
    assert_eq!(put(&["--", "a"]), Err(ErrorKind::MissingRequiredArgument));
    assert_eq!(put(&["--cron", "@daily"]), Err(ErrorKind::MissingRequiredArgument));
    for line in [
        ["--json", "f", "--cron", "@daily"].as_slice(),
        &["--json", "f", "--", "a"],
        &["--json", "f", "--zone", "UTC"],
        &["--json", "f", "--overlap", "skip"],
        &["--json", "f", "--pool", "p"],
    ] {
        assert_eq!(put(line), Err(ErrorKind::ArgumentConflict), "{line:?}");
    }
    assert!(put(&["--cron", "@daily", "--overlap", "queue", "--", "a"]).is_err());
    for line in
        [["schedule", "get", "a/b"].as_slice(), &["schedule", "fires", "a", "--outcome", "gone"]]
    {
        assert!(parsed(line).is_err(), "{line:?}");
    }
    assert!(parsed(&["schedule", "preview", "report", "-n", "999"]).is_ok());
    assert!(parsed(&["schedule", "preview", "--cron", "@daily"]).is_ok());
}

#[test]
fn a_workflow_run_has_one_input_and_a_rerun_names_nodes_to_go_below_them() {
    const RUN: &str = "run_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    for line in [
        ["put", "load", "-", "--if-version", "3"].as_slice(),
        &["get", "load", "--definition"],
        &["run", "load.yaml", "--input", "{\"a\": 1}", "--watch", "--every", "5s"],
        &["run", "-", "--input-file", "a.json", "--idempotency-key", "k"],
        &["runs", "--state", "running,failed", "--workflow", "load", "--all"],
        &["rerun", RUN, "--node", "a", "--node", "b", "--below"],
        &["graph", RUN, "--watch"],
    ] {
        assert!(parsed(&[&["workflow"], line].concat()).is_ok(), "{line:?}");
    }
    for line in [
        ["put", "a/b", "-"].as_slice(),
        &["put", "load", "-", "--if-version", "0"],
        &["run", "load", "--input", "{a"],
        &["run", "load", "--input", "1", "--input-file", "a.json"],
        &["runs", "--state", "ready"],
        &["rerun", RUN, "--below"],
        &["show", "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"],
    ] {
        assert!(parsed(&[&["workflow"], line].concat()).is_err(), "{line:?}");
    }
    assert!(parsed(&["signal", "order 7", "--payload", "null", "--keep", "2d"]).is_ok());
    assert!(parsed(&["signal", "..", "--payload", "null"]).is_err());
    assert!(parsed(&["signal", "a", "--payload", "text"]).is_err());
}

#[test]
fn values_are_checked_where_they_are_typed() {
    for line in [
        ["--tier", "gold"].as_slice(),
        &["--delay", "-1s"],
        &["--delay", "5"],
        &["--run-at", "tomorrow"],
        &["--max-attempts", "0"],
        &["--label", "team"],
        &["--env", "=x"],
        &["--delivery", "exactly_once"],
        &["--priority", "11"],
        &["--flexible", "perhaps"],
        &["--concurrency-key", ".."],
        &["--idempotency-key", "a b"],
    ] {
        let line = [line, &["--", "a"]].concat();
        assert!(
            matches!(
                submitted(&line),
                Err(ErrorKind::ValueValidation
                    | ErrorKind::InvalidValue
                    | ErrorKind::UnknownArgument)
            ),
            "{line:?}"
        );
    }
    assert!(parsed(&["get", "task_1"]).is_err());
    assert!(parsed(&["list", "--limit", "201"]).is_err());
    assert!(parsed(&["list", "--state", "done"]).is_err());
    assert!(parsed(&["list", "--label", "a=b", "--label", "c!=d", "--since", "2h"]).is_ok());
    assert!(parsed(&["list", "--since", "yesterday"]).is_err());
    assert!(parsed(&["list", "--label", "team"]).is_err());
    assert!(parsed(&["cancel"]).is_err(), "nothing to cancel");
    assert!(parsed(&["admin", "tenant", "create", "a", "--weight", "1001"]).is_err());
    assert!(
        parsed(&["admin", "key", "create", "--tenant", "a", "--name", "n"]).is_err(),
        "a key without a scope"
    );
}

#[test]
fn states_come_with_commas_or_several_times() {
    let Ok(Command::List(list)) =
        parsed(&["list", "--state", "ready,queued", "--state", "running", "--all"])
    else {
        panic!("a list");
    };
    assert_eq!(list.states.len(), 3);
}

#[test]
fn server_key_and_output_may_stand_anywhere_and_the_key_does_not_show() {
    let line =
        ["berth", "usage", "--output", "json", "--server", "http://a:1", "--api-key", "hunter2"];
    let arguments = Arguments::try_parse_from(line).unwrap();
    assert_eq!(
        (arguments.output, arguments.connection.server.as_deref()),
        (Format::Json, Some("http://a:1"))
    );
    assert!(!format!("{arguments:?}").contains("hunter2"));
    let line = ["berth", "--server", "http://a:1", "usage"];
    let server = Arguments::try_parse_from(line).unwrap().connection.server;
    assert_eq!(server.as_deref(), Some("http://a:1"));
}

#[test]
fn counts_of_processes_go_with_full_and_are_checked() {
    assert!(parsed(&["up", "--full", "--api", "2", "--executor", "3"]).is_ok());
    for line in [
        ["up", "--executor", "2"].as_slice(),
        &["up", "--full", "--executor", "0"],
        &["up", "--full", "--api", "33"],
        &["up", "--listen", "8080"],
    ] {
        assert!(parsed(line).is_err(), "{line:?}");
    }
}

#[test]
fn keys_and_users_are_checked_where_they_are_typed() {
    for line in [
        ["keys", "list"].as_slice(),
        &["keys", "create", "--name", "ci", "--scope", "read", "--expires-in", "90d"],
        &["keys", "rotate", "q2mnv5c7xk3a", "--overlap", "0s"],
        &["keys", "revoke", "q2mnv5c7xk3a"],
        &["admin", "key", "rotate", "q2mnv5c7xk3a", "--tenant", "acme"],
        &["admin", "operator-key", "create", "--name", "ann", "--scope", "admin"],
        &["admin", "user", "create", "--tenant", "a", "--email", "a@b", "--role", "owner"],
        &["admin", "user", "put", "--tenant", "a", "--email", "a@b", "--role", "owner"],
        &["admin", "tenant", "put", "acme", "--plan", "team", "--suspended", "--if-version", "0"],
    ] {
        assert!(parsed(line).is_ok(), "{line:?}");
    }
    for line in [
        ["keys", "create", "--name", "ci"].as_slice(),
        &["keys", "create", "--name", "ci", "--scope", "root"],
        &["keys", "rotate", "q2mnv5c7xk3a", "--overlap", "31d"],
        &["admin", "operator-key", "create", "--name", "ann", "--scope", "submit"],
        &["admin", "user", "create", "--tenant", "a", "--email", "a@b", "--role", "root"],
    ] {
        assert!(parsed(line).is_err(), "{line:?}");
    }
}

#[test]
fn roles_and_migrate_take_a_file_with_settings() {
    for role in ["api", "scheduler", "resource-manager", "executor", "migrate"] {
        assert!(parsed(&[role, "--config", "berth.toml"]).is_ok(), "{role}");
        assert!(parsed(&[role, "--port", "1"]).is_err(), "{role}");
    }
}

#[test]
fn a_lever_is_of_one_task_and_a_mark_has_a_note() {
    const ID: &str = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    for lever in ["retry", "run-now"] {
        assert!(parsed(&[lever, ID]).is_ok(), "{lever}");
        assert_eq!(parsed(&[lever]).unwrap_err(), ErrorKind::MissingRequiredArgument, "{lever}");
        assert_eq!(parsed(&[lever, "x"]).unwrap_err(), ErrorKind::ValueValidation, "{lever}");
    }
    assert!(parsed(&["mark-succeeded", ID, "--note", "by hand"]).is_ok());
    let without = parsed(&["mark-succeeded", ID]).unwrap_err();
    assert_eq!(without, ErrorKind::MissingRequiredArgument);
    let both = ["change", ID, "--delay", "1h", "--at", "2030-01-31T12:00:00Z"];
    assert_eq!(parsed(&both).unwrap_err(), ErrorKind::ArgumentConflict);
    assert!(parsed(&["change", ID, "--priority", "-3", "--if-version", "2"]).is_ok());
    assert!(parsed(&["change", ID, "--if-version", "0"]).is_err());
}
