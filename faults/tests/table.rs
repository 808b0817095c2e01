//! Holds the list of fault points to the source, and the tests to the list.

use faults::{Operation, POINTS};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// As a point is made in the source.
const NEW: &str = "FaultPoint::new(\"";

/// The names of all points made in the Rust files below `folder`.
fn points_in(folder: &Path, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            points_in(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let made = code.flat_map(|line| line.split(NEW).skip(1).collect::<Vec<_>>());
            found.extend(made.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    Ok(())
}

#[test]
fn the_table_names_every_point_of_the_source_and_no_other() -> std::io::Result<()> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut found = Vec::new();
    for entry in fs::read_dir(root)? {
        let sources = entry?.path().join("src");
        if sources.is_dir() {
            points_in(&sources, &mut found)?;
        }
    }
    let named: BTreeSet<_> = found.iter().map(String::as_str).collect();
    assert_eq!(named.len(), found.len(), "a name stands for one place: {found:?}");
    let listed: BTreeSet<_> = POINTS.iter().map(|point| point.name).collect();
    assert_eq!(listed, named);
    Ok(())
}

#[test]
fn every_operation_is_attacked_by_a_test_and_has_points() {
    let tests = include_str!("steps.rs");
    for operation in Operation::ALL {
        assert!(tests.contains(&format!("attack(Operation::{operation:?})")), "{operation:?}");
        assert!(operation.points().count() > 0, "{operation:?}");
    }
}
