//! A command's environment: exactly what the task gives, plus what Berth tells it.
//!
//! Nothing is inherited from the agent, whose environment holds its secret. `PATH` and `HOME` are set only when the
//! task has none: a program without the first finds nothing, and many will not start without the second.

use crate::due::Due;
use crate::supervise::RESULT_FILE;
use protocol::Capacity;
use std::collections::BTreeMap;

/// The search path of a task that gives none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What Berth adds.
pub(super) struct Facts<'a> {
    /// `task_…`.
    pub(super) task: String,
    pub(super) attempt: u32,
    /// W3C trace context; empty: none.
    pub(super) traceparent: &'a str,
    pub(super) due: &'a Due,
    /// The work folder as the command sees it; none where it has no name in UTF-8.
    pub(super) home: Option<&'a str>,
    pub(super) resources: &'a Capacity,
}

/// The whole environment. Where the task uses a name of Berth's, Berth's value stands.
pub(super) fn build(given: BTreeMap<String, String>, facts: &Facts<'_>) -> Vec<(String, String)> {
    let mut env = given;
    env.entry("PATH".to_owned()).or_insert_with(|| DEFAULT_PATH.to_owned());
    if let Some(home) = facts.home {
        env.entry("HOME".to_owned()).or_insert_with(|| home.to_owned());
    }
    let due = [("BERTH_DUE_AT", &facts.due.at), ("BERTH_SCHEDULE", &facts.due.schedule)];
    for (name, value) in due {
        match value {
            Some(value) => env.insert(name.to_owned(), value.clone()),
            None => env.remove(name),
        };
    }
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), value);
    set("BERTH_TASK_ID", facts.task.clone());
    set("BERTH_ATTEMPT", facts.attempt.to_string());
    if let Some(home) = facts.home {
        set("BERTH_RESULT", format!("{home}/{RESULT_FILE}"));
    }
    if !facts.traceparent.is_empty() {
        set("TRACEPARENT", facts.traceparent.to_owned());
    }
    if facts.resources.port_count > 0 {
        set("BERTH_PORT_FIRST", facts.resources.port_first.to_string());
        set("BERTH_PORT_COUNT", facts.resources.port_count.to_string());
    }
    env.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &[(&str, &str)], due: &Due, resources: &Capacity) -> String {
        let given = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let (task, home) = ("task_1".to_owned(), Some("/work"));
        let facts = Facts { task, attempt: 2, traceparent: "", due, home, resources };
        let env = build(given, &facts);
        env.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_environment_is_what_was_given_and_what_berth_says() {
        let (none, no_due) = (Capacity::default(), Due::default());
        let given = [
            ("A", "1"),
            ("PATH", "/x"),
            ("BERTH_ATTEMPT", "9"),
            ("BERTH_RESULT", "/etc/x"),
            ("HOME", ""),
        ];
        let text = names(&given, &no_due, &none);
        assert_eq!(
            text,
            "A=1 BERTH_ATTEMPT=2 BERTH_RESULT=/work/.berth-result.json BERTH_TASK_ID=task_1 HOME= PATH=/x"
        );
        let ports = Capacity { port_first: 20_000, port_count: 2, ..none };
        let text = names(&[], &no_due, &ports);
        assert!(text.contains("BERTH_PORT_COUNT=2 BERTH_PORT_FIRST=20000"), "{text}");
        assert!(text.contains(&format!("HOME=/work PATH={DEFAULT_PATH}")), "{text}");
    }

    #[test]
    fn the_due_time_and_the_schedule_are_berths_to_say() {
        let none = Capacity::default();
        let at = Some("2030-01-31T02:30:00Z".to_owned());
        let due = Due { at: at.clone(), schedule: Some("report".to_owned()) };
        let given = [("BERTH_DUE_AT", "tomorrow"), ("BERTH_SCHEDULE", "mine"), ("PATH", "/x")];
        assert_eq!(
            names(&given, &due, &none),
            "BERTH_ATTEMPT=2 BERTH_DUE_AT=2030-01-31T02:30:00Z BERTH_RESULT=/work/.berth-result.json BERTH_SCHEDULE=report BERTH_TASK_ID=task_1 HOME=/work PATH=/x"
        );
        // Of a task that no schedule made there is no name, whatever it says itself.
        let text = names(&given, &Due { at, schedule: None }, &none);
        assert!(!text.contains("BERTH_SCHEDULE"), "{text}");
    }
}
