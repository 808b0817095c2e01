//! A command's environment: exactly what the task gives, plus what Berth tells it.
//!
//! Nothing is inherited from the agent, whose environment holds its secret. `PATH` is set only when the
//! task has none, because a program without one finds nothing.

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
    pub(super) resources: &'a Capacity,
}

/// The whole environment. Where the task uses a name of Berth's, Berth's value stands.
pub(super) fn build(given: BTreeMap<String, String>, facts: &Facts<'_>) -> Vec<(String, String)> {
    let mut env = given;
    env.entry("PATH".to_owned()).or_insert_with(|| DEFAULT_PATH.to_owned());
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), value);
    set("BERTH_TASK_ID", facts.task.clone());
    set("BERTH_ATTEMPT", facts.attempt.to_string());
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

    fn names(given: &[(&str, &str)], resources: &Capacity) -> String {
        let given = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let facts = Facts { task: "task_1".to_owned(), attempt: 2, traceparent: "", resources };
        let env = build(given, &facts);
        env.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_environment_is_what_was_given_and_what_berth_says() {
        let none = Capacity::default();
        let text = names(&[("A", "1"), ("PATH", "/x"), ("BERTH_ATTEMPT", "9")], &none);
        assert_eq!(text, "A=1 BERTH_ATTEMPT=2 BERTH_TASK_ID=task_1 PATH=/x");
        let ports = Capacity { port_first: 20_000, port_count: 2, ..none };
        let text = names(&[], &ports);
        assert!(text.contains("BERTH_PORT_COUNT=2 BERTH_PORT_FIRST=20000"), "{text}");
        assert!(text.contains(&format!("PATH={DEFAULT_PATH}")), "{text}");
    }
}
