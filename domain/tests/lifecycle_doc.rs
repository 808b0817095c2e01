//! Holds docs/task-lifecycle.md equal to the code: the drawing, and the table of who moves what.

use domain::task::{Effect, Lever, State, moves};
use std::collections::BTreeSet;

const DOC: &str = include_str!("../../docs/task-lifecycle.md");

#[test]
fn the_table_in_the_docs_is_the_table_in_the_code() {
    let in_docs: BTreeSet<String> = DOC
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 5)
        .map(str::to_owned)
        .collect();
    let in_code: BTreeSet<String> = moves()
        .map(|m| format!("| `{}` | `{}` | `{}` | {} |", m.from, m.event, m.to, m.event.mover()))
        .collect();
    let missing: Vec<_> = in_code.difference(&in_docs).collect();
    let extra: Vec<_> = in_docs.difference(&in_code).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing in docs: {missing:#?}\nnot in the code: {extra:#?}"
    );
}

#[test]
fn the_drawing_has_every_move_and_no_other() {
    let in_docs: BTreeSet<(String, String)> = DOC
        .lines()
        .filter_map(|line| line.trim().split_once(" --> "))
        .filter(|(from, to)| !from.contains('*') && !to.contains('*'))
        .map(|(from, to)| (from.to_owned(), to.split(':').next().unwrap_or(to).trim().to_owned()))
        .collect();
    let in_code: BTreeSet<(String, String)> =
        moves().map(|m| (m.from.to_string(), m.to.to_string())).collect();
    assert_eq!(in_docs, in_code);
}

#[test]
fn every_state_is_explained() {
    for &state in State::ALL {
        assert!(DOC.contains(&format!("**{state}**")), "{state}");
    }
}

#[test]
fn the_levers_in_the_docs_are_those_of_the_code() {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = DOC.lines().skip_while(|line| !line.starts_with("| state | retry |"));
    let levers = cells(lines.next().unwrap());
    let names: Vec<_> = Lever::ALL.iter().map(|lever| lever.as_str()).collect();
    assert_eq!(levers[1..], names);
    let in_docs: Vec<_> =
        lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    let cell = |lever, state| match Effect::of(lever, state) {
        Ok(effect) => effect.words().to_owned(),
        Err(refusal) => format!("`{}`", refusal.as_str()),
    };
    let row = |state: &State| -> Vec<String> {
        let effects = Lever::ALL.iter().map(|lever| cell(*lever, *state));
        std::iter::once(format!("`{state}`")).chain(effects).collect()
    };
    let in_code: Vec<_> = State::ALL.iter().map(row).collect();
    assert_eq!(in_docs, in_code);
}

#[test]
fn every_lifecycle_word_has_its_place() {
    for number in 1..=15 {
        assert!(DOC.contains(&format!("| C{number} ")), "C{number}");
    }
}
