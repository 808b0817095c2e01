//! The outside ledger: lines stay whole among many writers, and each check finds what it is for.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::ledger::{Ledger, Line, Mark};

fn ledger() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(folder.path().join("ledger"));
    (folder, ledger)
}

fn line(task: &str, attempt: u32, mark: Mark, monotonic_ns: i64) -> Line {
    Line { task: task.into(), attempt, mark, monotonic_ns, wall_ns: monotonic_ns }
}

fn write(ledger: &Ledger, lines: &[(&str, u32, Mark, i64)]) {
    for (task, attempt, mark, at) in lines {
        ledger.append(&line(task, *attempt, *mark, *at)).unwrap();
    }
}

#[test]
fn a_ledger_nobody_has_written_to_is_empty() {
    let (_folder, ledger) = ledger();
    assert_eq!(ledger.lines().unwrap(), vec![]);
    assert_eq!(ledger.runs().unwrap().completed(), 0);
}

#[test]
fn a_line_reads_back_as_it_was_written() {
    let (_folder, ledger) = ledger();
    let written = Line::now("task_1", 2, Mark::End).unwrap();
    ledger.append(&written).unwrap();
    assert_eq!(ledger.lines().unwrap(), vec![written]);
}

#[test]
fn time_goes_forward_from_line_to_line() {
    let (one, two) =
        (Line::now("t", 1, Mark::Start).unwrap(), Line::now("t", 1, Mark::End).unwrap());
    assert!(one.monotonic_ns <= two.monotonic_ns);
}

#[test]
fn a_torn_or_foreign_line_is_an_error() {
    let (_folder, ledger) = ledger();
    std::fs::write(ledger.path(), "task_1 1 start 5 5\ntask_1 1 en").unwrap();
    ledger.lines().unwrap_err();
    std::fs::write(ledger.path(), "task_1 1 paused 5 5\n").unwrap();
    ledger.lines().unwrap_err();
    Line::now("two words", 1, Mark::Start).unwrap_err();
}

#[test]
fn many_processes_write_whole_lines() {
    let (_folder, ledger) = ledger();
    let stamp = env!("CARGO_BIN_EXE_ledger-stamp");
    let start = |n: u32| {
        let task = format!("task_{n}");
        Command::new(stamp).arg(ledger.path()).args(["5", "0", &task, "1"]).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..40).map(start).collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let runs = ledger.runs().unwrap();
    assert_eq!(runs.completed(), 40);
    assert_eq!(runs.faults(), Vec::<String>::new());
    for run in runs.tasks().flat_map(|task| runs.of(task)) {
        assert!(run.ended_ns.unwrap() - run.started_ns >= 5_000_000);
    }
}

#[test]
fn a_command_takes_task_and_attempt_from_the_executor_and_ends_as_told() {
    let (_folder, ledger) = ledger();
    let stamp = Path::new(env!("CARGO_BIN_EXE_ledger-stamp"));
    let words = ledger.command_of(stamp, Duration::from_millis(1), 3);
    let (program, arguments) = words.split_first().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env("BERTH_TASK_ID", "task_7").env("BERTH_ATTEMPT", "2");
    assert_eq!(command.status().unwrap().code(), Some(3));
    assert_eq!(ledger.runs().unwrap().of("task_7").first().unwrap().attempt, 2);
}

#[test]
fn runs_one_after_the_other_do_not_overlap_and_runs_at_once_do() {
    let (_folder, ledger) = ledger();
    write(
        &ledger,
        &[("a", 1, Mark::Start, 10), ("a", 1, Mark::End, 20), ("a", 2, Mark::Start, 20)],
    );
    write(&ledger, &[("a", 2, Mark::End, 30)]);
    assert_eq!(ledger.runs().unwrap().overlaps(None), Vec::<String>::new());

    write(
        &ledger,
        &[("b", 1, Mark::Start, 10), ("b", 2, Mark::Start, 15), ("b", 2, Mark::End, 18)],
    );
    write(&ledger, &[("b", 1, Mark::End, 40), ("b", 3, Mark::Start, 30), ("b", 3, Mark::End, 50)]);
    let overlaps = ledger.runs().unwrap().overlaps(None);
    assert_eq!(overlaps.len(), 2, "a long run overlaps with each that follows: {overlaps:?}");
}

#[test]
fn a_killed_run_overlaps_only_with_what_began_before_the_kill() {
    let (_folder, ledger) = ledger();
    write(
        &ledger,
        &[("a", 1, Mark::Start, 10), ("a", 2, Mark::Start, 50), ("a", 2, Mark::End, 60)],
    );
    let runs = ledger.runs().unwrap();
    assert_eq!(runs.overlaps(None), Vec::<String>::new());
    assert_eq!(runs.overlaps(Some(40)), Vec::<String>::new());
    assert_eq!(runs.overlaps(Some(55)).len(), 1);
}

#[test]
fn each_check_names_the_task_it_is_about() {
    let (_folder, ledger) = ledger();
    write(&ledger, &[("done", 1, Mark::Start, 1), ("done", 1, Mark::End, 2)]);
    write(&ledger, &[("twice", 1, Mark::Start, 1), ("twice", 1, Mark::End, 2)]);
    write(&ledger, &[("twice", 2, Mark::Start, 3), ("twice", 2, Mark::End, 4)]);
    write(&ledger, &[("killed", 1, Mark::Start, 1), ("stray", 1, Mark::End, 2)]);
    write(&ledger, &[("doubled", 1, Mark::Start, 1), ("doubled", 1, Mark::Start, 2)]);
    let runs = ledger.runs().unwrap();
    let expected = ["done", "twice", "killed", "lost"];
    assert_eq!(
        runs.never_completed(expected),
        ["killed never came to an end", "lost never came to an end"]
    );
    assert_eq!(runs.completed_more_than_once(), ["twice ended 2 times"]);
    assert_eq!(runs.unexpected(expected), ["doubled ran unasked", "stray ran unasked"]);
    assert_eq!(runs.faults(), ["stray attempt 1 ended unbegun", "doubled attempt 1 began twice"]);
}
