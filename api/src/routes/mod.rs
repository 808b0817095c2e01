//! One verb a file. `table` is the list of all of them: what is not in it does not exist.

pub mod admin;
pub mod audit;
pub mod concurrency;
pub mod costs;
pub mod docs;
pub mod events;
pub mod health;
pub mod invoices;
pub mod keys;
pub mod limits;
pub mod metrics;
pub mod openapi;
pub mod overview;
pub mod quotes;
pub mod schedules;
pub mod sessions;
pub mod signal;
pub mod spend_cap;
pub mod status;
pub mod table;
pub mod task;
pub mod usage;
pub mod users;
pub mod who_am_i;
pub mod workflow;
pub mod workflow_run;
