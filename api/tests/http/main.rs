//! The API on a real socket and a real Postgres, asked by a client that can send anything.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these lints except test functions only, not what tests call"
)]

mod audit;
mod auth;
mod bad_input;
mod bodies;
mod by_name;
mod cancel;
mod client;
mod completions;
mod compression;
mod computing;
mod contract;
mod costs;
mod dashboard;
mod dependencies;
mod described;
mod events;
mod explain;
mod idempotency;
mod invoices;
mod keys;
mod large_lists;
mod levers;
mod limits;
mod lines;
mod lists;
mod live;
mod logs;
mod matrix;
mod memory;
mod mistakes;
mod operator_keys;
mod operators;
mod outage;
mod overview;
mod pooler;
mod pools;
mod price_dry_run;
mod quotas;
mod quotes;
mod reads;
mod replicas;
mod reruns;
mod results;
mod schedule_runs;
mod schedule_tasks;
mod schedules;
mod server;
mod sign_in_links;
mod spend_caps;
mod start_up;
mod status;
mod submit;
mod submit_batch;
mod tenants;
mod timing;
mod tokens;
mod tries;
mod turns;
mod users;
mod webhooks;
mod who_am_i;
mod workflows;
