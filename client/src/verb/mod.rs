//! One file per route.

mod admin;
mod attempts;
mod audit;
mod cancel;
mod complete;
mod concurrency;
mod explain;
mod follow;
mod get;
mod invoices;
mod keys;
mod lever;
mod limits;
mod list;
mod logs;
mod openapi;
mod overview;
mod quotes;
mod rerun;
mod result;
mod schedules;
mod sessions;
mod sign_up;
mod signal;
mod spend_caps;
mod submit;
mod submit_batch;
mod submit_ndjson;
mod usage;
mod users;
mod wait;
mod workflow_runs;
mod workflows;

pub use admin::{PriceDryRunQuery, TenantCostsQuery, UsageEvents};
pub use follow::Follow;
pub use usage::CostsQuery;
