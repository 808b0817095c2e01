//! Ends groups that their supervisor did not.

use super::group::Group;
use super::place::Place;
use std::collections::BTreeSet;
use std::fs;

/// Ends all groups of an earlier boot. Returns how many there were. Blocks.
pub(crate) fn clean(places: &[Place]) -> usize {
    let mut names = BTreeSet::new();
    for place in places {
        let entries = fs::read_dir(&place.folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        names.extend(folders.filter_map(|entry| entry.file_name().into_string().ok()));
    }
    for name in &names {
        kill_all(places, name);
    }
    names.len()
}

/// Kills what is in the group `name` and removes it. Blocks.
pub(crate) fn kill_all(places: &[Place], name: &str) {
    if !Group::at(places, name).end() {
        tracing::error!(group = name, "The control group {name} cannot be emptied and removed");
    }
}
