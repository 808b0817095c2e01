//! Failures that look alike, as one line.
//!
//! The API gives the reason of each end as a sentence. Numbers and ids in it are left out of the comparison, so that one cause is
//! one group whatever it happened to.

use crate::words::Ago;
use api_types::Task;
use domain::time::Timestamp;

/// Tasks that failed for what is probably one cause.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub reason: String,
    pub name: String,
    pub count: usize,
    pub latest: Ago,
    /// The latest of them.
    pub id: String,
    /// Whether `name` names all of them.
    pub is_one_name: bool,
    key: String,
}

/// The groups of `tasks`, which are newest first; the largest first.
pub(crate) fn groups(tasks: &[Task], now: Timestamp) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for task in tasks {
        let reason =
            task.reason.clone().unwrap_or_else(|| format!("{} without a reason", task.state));
        let key = format!("{} {}", task.state, alike(&reason));
        let name = task.name.clone().unwrap_or_default();
        if let Some(group) = groups.iter_mut().find(|group| group.key == key) {
            group.count += 1;
            group.is_one_name &= group.name == name;
            continue;
        }
        let at = task.finished_at.unwrap_or(task.created_at);
        let (latest, id) = (Ago { at, now }, task.id.to_string());
        groups.push(Group { reason, name, count: 1, latest, id, is_one_name: true, key });
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// The reason without what differs from one task to the next.
fn alike(reason: &str) -> String {
    let words = reason.split_whitespace().map(|word| {
        let is_id = word.len() >= 12 && word.chars().any(|c| c.is_ascii_digit());
        if is_id {
            return "#".to_owned();
        }
        // An exit code is the cause itself.
        if word.len() <= 3 {
            return word.to_owned();
        }
        word.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect()
    });
    words.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_the_same_whatever_it_happened_to() {
        assert_eq!(
            alike("cannot open /data/part-00017.csv"),
            alike("cannot open /data/part-00018.csv")
        );
        assert_eq!(alike("no answer from 10.0.0.17"), alike("no answer from 10.0.0.18"));
        assert_ne!(alike("ended with exit code 2"), alike("ended with exit code 3"));
    }
}
