//! Holds docs/errors.md equal to the error table: code, status and whether to repeat.

use api::problem::Code;
use std::collections::BTreeSet;

const DOC: &str = include_str!("../../docs/errors.md");

#[test]
fn the_table_in_the_docs_is_the_table_in_the_code() {
    let in_docs: BTreeSet<String> = DOC
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 6)
        .map(|line| line.split('|').take(4).collect::<Vec<_>>().join("|"))
        .collect();
    let in_code: BTreeSet<String> = Code::ALL
        .iter()
        .map(|code| code.info())
        .map(|row| {
            format!(
                "| `{}` | {} | {} ",
                row.code,
                row.status,
                if row.retryable { "yes" } else { "no" }
            )
        })
        .collect();
    let missing: Vec<_> = in_code.difference(&in_docs).collect();
    let extra: Vec<_> = in_docs.difference(&in_code).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing in docs: {missing:#?}\nnot in the code: {extra:#?}"
    );
}
