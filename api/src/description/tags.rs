//! What the nouns under which operations are listed stand for.

use utoipa::openapi::tag::{Tag, TagBuilder};

/// Each noun of the table of routes.
const TEXTS: [(&str, &str); 18] = [
    ("task", "Tasks: submit, read, cancel, run again"),
    ("usage", "Billed usage"),
    ("limits", "Limits of your plan and their use"),
    ("concurrency", "Limits of concurrency keys"),
    ("schedule", "Schedules, which create tasks at their due times"),
    ("self", "The credential of the request"),
    ("key", "API keys of your tenant"),
    ("user", "Users of your tenant"),
    ("session", "Signing up, in and out with a password"),
    ("audit", "Audit log of your tenant"),
    ("operator", "For operators: operator keys and the audit log"),
    ("tenant", "For operators: tenants"),
    ("plan", "For operators: plans"),
    ("pool", "For operators: pools of executors and their grants"),
    ("health", "Probes of a process"),
    ("metrics", "Metrics of a process"),
    ("openapi", "This document"),
    ("docs", "This document as web pages"),
];

/// The noun with its text.
pub(super) fn tag(noun: &str) -> Tag {
    let text = TEXTS.into_iter().find(|(known, _)| *known == noun).map(|(_, text)| text);
    TagBuilder::new().name(noun).description(text).build()
}
