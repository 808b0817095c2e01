//! The tests of `make test-fast` do not wait for real time.
//!
//! Run by `make check`. A test waits for a condition (`testkit::poll`), or on tokio's virtual clock (`start_paused`). A sleep of more
//! than 50 ms is refused; what is about seconds that pass belongs into a module `waits`, which the profile `fast` of
//! `.config/nextest.toml` leaves out, as it does the modules below.

#![expect(clippy::expect_used, reason = "a helper that cannot go on fails its test")]

use std::fs;
use std::path::{Path, PathBuf};

/// Where tests of the fast tier are.
const FOLDERS: [&str; 11] = [
    "api/src",
    "api/tests",
    "bus/src",
    "bus/tests/contract.rs",
    "bus/tests/support",
    "domain/src",
    "egress/src",
    "executor/src",
    "identity/src",
    "resource-manager/src",
    "store",
];

/// Of these, what is on tokio's virtual clock as a whole: each of its tests with a runtime has `start_paused`.
const VIRTUAL: &str = "resource-manager/src";

/// Modules that the fast tier leaves out.
const LEFT_OUT: [&str; 6] = ["alone", "chaos", "filled", "own_engines", "replicas", "waits"];

const MOST_MS: u64 = 50;

/// A sleep in the tests of a file: its line, and what it is given.
#[derive(Debug, PartialEq)]
struct Sleep<'a> {
    line: usize,
    argument: &'a str,
}

/// The sleeps of real time in the tests of `text`. `is_test`: all of the file is test code.
fn sleeps(text: &str, is_test: bool) -> Vec<Sleep<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.trim() == "#[cfg(test)]").unwrap_or(lines.len());
    let first = if is_test { 0 } else { first };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(first) {
        let code = line.trim_start();
        if code.starts_with("//") || code.starts_with("use ") {
            continue;
        }
        let Some(argument) = argument_of_sleep(code) else { continue };
        if !is_short(argument) && !is_left_out(&lines, at) && !is_on_a_virtual_clock(&lines, at) {
            found.push(Sleep { line: at + 1, argument });
        }
    }
    found
}

/// What `sleep` is called with on this line; not `pg_sleep`, and no word of a text.
fn argument_of_sleep(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("sleep(")?;
    let named_so = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let is_definition = before.ends_with("fn ");
    let in_text = before.matches('"').count() % 2 == 1;
    (named_so && !is_definition && !in_text).then_some(after)
}

fn is_short(argument: &str) -> bool {
    argument
        .strip_prefix("Duration::from_millis(")
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(number, _)| number.replace('_', "").parse().ok())
        .is_some_and(|ms: u64| ms <= MOST_MS)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines that open the blocks around line `at`, innermost first.
fn around<'a>(lines: &'a [&'a str], at: usize) -> impl Iterator<Item = usize> + 'a {
    let mut inner = indent(lines[at]);
    (0..at).rev().filter(move |above| {
        let line = lines[*above];
        let opens = !line.trim().is_empty() && indent(line) < inner;
        if opens {
            inner = indent(line);
        }
        opens
    })
}

fn is_left_out(lines: &[&str], at: usize) -> bool {
    around(lines, at).any(|above| {
        let name = lines[above].trim().strip_prefix("mod ").and_then(|line| line.split(' ').next());
        name.is_some_and(|name| LEFT_OUT.contains(&name))
    })
}

/// Whether the function around it has `start_paused`.
fn is_on_a_virtual_clock(lines: &[&str], at: usize) -> bool {
    let is_function = |above: &usize| {
        let line = lines[*above].trim_start();
        line.contains("fn ") && !line.starts_with("//")
    };
    let Some(function) = around(lines, at).find(is_function) else { return false };
    let attributes = lines[..function].iter().rev();
    let mut attributes = attributes.take_while(|line| line.trim_start().starts_with("#["));
    attributes.any(|line| line.contains("start_paused = true"))
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    if folder.is_file() {
        into.push(folder.to_owned());
        return;
    }
    for entry in fs::read_dir(folder).expect("a folder of the fast tier is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() || path.extension().is_some_and(|end| end == "rs") {
            files(&path, into);
        }
    }
}

/// True where all of a file is test code: it is in a folder of tests, or is a module of tests by its name.
fn is_test_file(path: &Path) -> bool {
    let named = |name: &str| path.components().any(|part| part.as_os_str() == name);
    named("tests") || named("testing") || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// True where the file is a module that the fast tier leaves out.
fn is_left_out_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| LEFT_OUT.iter().any(|name| stem == *name))
}

#[test]
fn no_test_of_the_fast_tier_sleeps_for_more_than_fifty_milliseconds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for folder in FOLDERS {
        files(&root.join(folder), &mut all);
    }
    assert!(all.len() > 100, "{} files", all.len());
    let mut refused = Vec::new();
    for path in all.iter().filter(|path| !is_left_out_file(path)) {
        let text = fs::read_to_string(path).expect("a file can be read");
        if path.starts_with(root.join(VIRTUAL)) {
            assert!(!text.contains("#[tokio::test]"), "{}: not on a virtual clock", path.display());
            continue;
        }
        let name = path.strip_prefix(&root).expect("below the root");
        for Sleep { line, argument } in sleeps(&text, is_test_file(name)) {
            refused.push(format!("{}:{line}: sleep({argument}", name.display()));
        }
    }
    assert!(
        refused.is_empty(),
        "wait for a condition (testkit::poll), on a virtual clock (start_paused), or in a module `waits`:\n{}",
        refused.join("\n")
    );
}

#[test]
fn the_profile_leaves_out_the_same_modules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../.config/nextest.toml");
    let settings = fs::read_to_string(path).expect("the settings of nextest");
    let names = format!("(^|::)({})::", LEFT_OUT.join("|"));
    assert!(settings.contains(&names), "the filter of [profile.fast] has no {names}");
}

#[test]
fn a_long_sleep_is_found_and_what_does_not_wait_is_not() {
    let text = r#"
async fn helper() {
    sleep(PAUSE).await;
    clock::sleep(Duration::from_millis(50)).await;
    sql("select pg_sleep(5)");
}

#[tokio::test(start_paused = true)]
async fn on_a_virtual_clock() {
    if true {
        sleep(Duration::from_secs(60)).await;
    }
}

mod waits {
    #[tokio::test]
    async fn of_seconds() {
        sleep(Duration::from_secs(2)).await;
    }
}

#[test]
fn of_a_thread() {
    std::thread::sleep(Duration::from_millis(51));
}
"#;
    let found: Vec<usize> = sleeps(text, true).iter().map(|sleep| sleep.line).collect();
    assert_eq!(found, [3, 24]);
    assert!(sleeps(text, false).is_empty(), "no test code without #[cfg(test)]");
}
