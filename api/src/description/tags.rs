//! What the nouns under which operations are listed stand for.

use utoipa::openapi::tag::{Tag, TagBuilder};

/// Each noun of the table of routes.
const TEXTS: [(&str, &str); 38] = [
    ("task", "Tasks: submit, read, cancel, run again"),
    ("usage", "Billed usage and its costs"),
    ("invoice", "Invoices"),
    ("overview", "What runs, what waits, and how it goes"),
    ("limits", "Limits of your plan and their use"),
    ("concurrency", "Limits of concurrency keys"),
    ("spend_cap", "Spend caps: what tasks may cost in a day or a month"),
    ("schedule", "Schedules, which create tasks at their due times"),
    ("workflow", "Workflows: graphs of tasks"),
    ("workflow_run", "Workflow runs"),
    ("signal", "Signals, which nodes of workflows wait for"),
    ("event", "Events: what changed"),
    ("webhook", "Webhooks: events sent to your receivers, and what was sent"),
    ("self", "The credential of the request"),
    ("key", "API keys of your tenant"),
    ("user", "Users of your tenant"),
    ("session", "Signing up, in and out with a password"),
    ("audit", "Audit log of your tenant"),
    ("operator", "For operators: the operator of the request and the audit log"),
    ("operator_key", "For operators: operator keys"),
    ("tenant", "For operators: tenants"),
    ("tenant_key", "For operators: API keys of a tenant"),
    ("tenant_user", "For operators: users of a tenant"),
    ("tenant_invoice", "For operators: invoices of a tenant"),
    ("tenant_credit", "For operators: credits and refunds of a tenant"),
    ("tenant_cost", "For operators: costs and margins by tenant"),
    ("usage_event", "For operators: export of usage to a billing provider"),
    ("plan", "For operators: plans"),
    ("price_book", "For operators: price books"),
    ("pool", "For operators: pools of executors and their grants"),
    ("executor", "For operators: connected executors"),
    ("restore", "For operators: schedules that are held after a restore"),
    ("canary", "For operators: what canaries see of the service"),
    ("status", "How the service does"),
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
