//! Holds docs/fairness.md to the code: what a task may wait for, and what the times rest on.

use domain::explain::{Basis, Reason};

const DOC: &str = include_str!("../../docs/fairness.md");

#[test]
fn every_reason_and_every_basis_is_explained() {
    let (_, section) = DOC.split_once("## Why does it wait?").unwrap();
    for name in Reason::NAMES.into_iter().chain(Basis::ALL.iter().map(|basis| basis.as_str())) {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}
