//! Holds the tables of docs/time.md to the code.

use domain::schedule::{Reckoner, Spec, Timing};
use domain::time::Timestamp;

const DOC: &str = include_str!("../../../docs/time.md");

/// The cells of the table below this head.
fn table(head: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = DOC.split_once(&format!("\n{head}\n")).expect(head);
    let rows = rest.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// What stands between the first backticks.
fn quoted(cell: &str) -> &str {
    cell.split('`').nth(1).expect(cell)
}

fn cron(pattern: &str) -> Timing {
    Timing::of(vec![Spec::Cron(pattern.to_owned())])
}

fn refusal(timing: &Timing) -> Option<String> {
    timing.check_new().first().map(ToString::to_string)
}

#[test]
fn patterns_are_due_when_the_table_says() {
    let rows = table("| pattern | due |");
    assert!(rows.len() > 20, "{}", rows.len());
    let from: Timestamp = "2026-12-31T23:59:59Z".parse().unwrap();
    for row in rows {
        let [pattern, due] = row[..] else { panic!("{row:?}") };
        let timing = cron(quoted(pattern));
        assert_eq!(refusal(&timing), None, "{pattern}");
        let reckoner = Reckoner::new(&timing, from).unwrap();
        let mut last = from;
        for wanted in due.split(", ") {
            last = reckoner.next_after(last).unwrap().at;
            let form = if wanted.matches(':').count() == 2 { "%T" } else { "%H:%M" };
            assert_eq!(last.format(&format!("%a %-d %b {form}")).to_string(), wanted, "{pattern}");
        }
    }
}

#[test]
fn what_is_refused_is_refused_and_what_is_to_be_written_is_taken() {
    let rows = table("| refused | because | write |");
    assert!(rows.len() > 10, "{}", rows.len());
    for row in rows {
        let [refused, _, write] = row[..] else { panic!("{row:?}") };
        assert!(refusal(&cron(quoted(refused))).is_some(), "{refused}");
        let write = quoted(write);
        let timing = match serde_json::from_str::<Spec>(write) {
            Ok(spec) => Timing::of(vec![spec]),
            Err(_) => cron(write),
        };
        assert_eq!((timing.check(), refusal(&timing)), (Ok(()), None), "{write}");
    }
}
