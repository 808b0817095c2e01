//! Due times against a reference that shares nothing with them but the rule: see `reference.py`, which wrote the cases.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says at once what it cannot read"
)]

mod doc;

use domain::schedule::{DueTime, Reckoner, Timing, TimingProblem, tzdb_release};
use domain::time::Timestamp;
use serde::Deserialize;

const CASES: &str = include_str!("cases.jsonl");

#[derive(Deserialize)]
struct Head {
    tzdb: String,
    cases: usize,
}

#[derive(Deserialize)]
struct Case {
    timing: serde_json::Value,
    /// Minutes since 1970, as all here.
    after: i64,
    until: i64,
    due: Vec<i64>,
    marks: String,
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_timestamp(minute * 60, 0).unwrap()
}

fn mark(due: &DueTime) -> char {
    match (due.marks.shifted, due.marks.repeated, due.marks.again) {
        (true, _, _) => 's',
        (false, false, _) => '.',
        (false, true, false) => 'r',
        (false, true, true) => 'a',
    }
}

/// At most 24, as the reference has it.
fn due_times(case: &Case) -> (Vec<i64>, String) {
    let timing: Timing = serde_json::from_value(case.timing.clone()).unwrap();
    let reckoner = match Reckoner::new(&timing, at(case.after)) {
        Ok(reckoner) => reckoner,
        Err(error) if error.problem == TimingProblem::NeverFires => return Default::default(),
        Err(error) => panic!("{}: {error}", case.timing),
    };
    let first = reckoner.next_after(at(case.after));
    std::iter::successors(first, |due| reckoner.next_after(due.at))
        .take_while(|due| due.at <= at(case.until))
        .take(24)
        .map(|due| (due.at.timestamp() / 60, mark(&due)))
        .unzip()
}

#[test]
fn two_thousand_drawn_timings_are_due_when_the_reference_says() {
    let (head, lines) = CASES.split_once('\n').unwrap();
    let head: Head = serde_json::from_str(head).unwrap();
    assert_eq!(
        head.tzdb,
        tzdb_release(),
        "the cases are of another release of the zones' data: run reference.py with that of tzdb_release()"
    );
    let cases: Vec<Case> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((cases.len(), head.cases), (2000, 2000));
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let (due, marks) = due_times(case);
            let differs = (&due, &marks) != (&case.due, &case.marks);
            let text = |due: &[i64], marks: &str| {
                let each = due.iter().zip(marks.chars());
                each.map(|(due, mark)| format!(" {}{mark}", at(*due).format("%F %R")))
                    .collect::<String>()
            };
            differs.then(|| {
                let (ours, theirs) = (text(&due, &marks), text(&case.due, &case.marks));
                format!(
                    "{} after {}:\n ours     {ours}\n reference{theirs}",
                    case.timing,
                    at(case.after)
                )
            })
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of 2000 differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}
