//! The store on a real Postgres, each test in a database of its own, through the service roles' own logins.
//!
//! Run with `scripts/with-services --postgres -- cargo nextest run -p store`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that cannot go on fails its test")]

mod access;
mod actor;
mod audit;
mod batches;
mod canaries;
mod checks;
mod completions;
mod concurrency;
mod counts;
mod dependencies;
mod doctor;
mod ends;
mod events;
mod explain;
mod filled;
mod grants;
mod held_retries;
mod installation;
mod invoices;
mod keys;
mod leadership;
mod levers;
mod matrix;
mod migrations;
mod numbers;
mod one_end;
mod output_and_usage;
mod overview;
mod pages;
mod partitions;
mod plan_limits;
mod plans;
mod pooled;
mod pools;
mod price_books;
mod races;
mod rates;
mod reading;
mod results;
mod roles;
mod rollup;
mod schedule_runs;
mod schedule_tasks;
mod schedules;
mod selection;
mod selection_cost;
mod sessions;
mod sign_ins;
mod silence;
mod spans;
mod spend_caps;
mod storm;
mod submitting;
mod support;
mod tenancy;
mod tenants;
mod tls;
mod tokens;
mod unique_keys;
mod usage_rebuild;
mod webhooks;
mod what_moves;
