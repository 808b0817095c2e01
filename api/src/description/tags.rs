//! What the nouns under which operations are listed stand for.

use utoipa::openapi::tag::{Tag, TagBuilder};

/// Each noun of the table of routes.
const TEXTS: [(&str, &str); 18] = [
    ("task", "Work that runs until it ends once: submit it, read it, cancel it, run it again"),
    ("usage", "What was used, as it is billed"),
    ("limits", "What your plan allows, and what is used of it"),
    ("concurrency", "How many tasks of a concurrency key run at once"),
    ("schedule", "What makes tasks when it is due, by the clock"),
    ("self", "Whose a credential is, and what it may do"),
    ("key", "API keys of your tenant"),
    ("user", "Users of your tenant"),
    ("session", "Signing up, in and out with a password"),
    ("audit", "Who changed what in your tenant"),
    ("operator", "For the platform's operators: their own keys, and the audit of all"),
    ("tenant", "For the platform's operators: customers"),
    ("plan", "For the platform's operators: what customers may use"),
    ("pool", "For the platform's operators: groups of executors, and who may use them"),
    ("health", "Probes of a process"),
    ("metrics", "Figures of a process"),
    ("openapi", "This document"),
    ("docs", "This document as pages for a browser"),
];

/// The noun with its text.
pub(super) fn tag(noun: &str) -> Tag {
    let text = TEXTS.into_iter().find(|(known, _)| *known == noun).map(|(_, text)| text);
    TagBuilder::new().name(noun).description(text).build()
}
