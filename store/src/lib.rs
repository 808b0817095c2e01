//! The only crate with SQL: one noun a folder, one verb a file.
//!
//! Rows are the truth; messages are hints. Every statement has a name, which is its metric label
//! (`statement.rs`). Every update that can race names the state and the token it expects, and answers per row.
//! Functions take the handle of the role that may run them ([`connect`]), tenant functions a [`TenantScope`] too.
#![warn(missing_docs)]

mod actor;
pub mod attempt;
pub mod attempt_cost;
pub mod attempt_end;
pub mod audit;
mod bounded;
pub mod canary;
pub mod concurrency;
pub mod connect;
pub mod cost;
pub mod credit;
pub mod doctor;
mod drivers;
mod error;
pub mod event;
pub mod fire;
pub mod held_retry;
pub mod idempotency;
pub mod installation;
pub mod invoice;
pub mod key;
pub mod leadership;
pub mod lease;
pub mod load;
pub mod migrate;
pub mod operator_key;
pub mod output;
pub mod overview;
mod own;
mod page;
pub mod partition;
pub mod plan;
pub mod pool;
pub mod price_book;
pub mod price_dry_run;
mod price_history;
pub mod quote;
pub mod rate;
pub mod replica;
pub mod rollup;
mod rows;
pub mod schedule;
mod scope;
mod scoped;
pub mod session;
pub mod shard;
pub mod sign_in;
mod silence;
pub mod spend;
pub mod spend_cap;
mod statement;
pub mod stored_day;
pub mod task;
pub mod tenant;
pub mod turn;
pub mod usage_event;
pub mod usage_rebuild;
pub mod user;
mod watch;
pub mod webhook;
pub mod workflow;

pub use bounded::Bounded;
pub use error::{RoleError, StoreError};
pub use page::{MOST_READ, PageOf};
pub use scope::TenantScope;
pub use watch::watch;
