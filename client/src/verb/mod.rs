//! One file a route.

mod attempts;
mod audit;
mod cancel;
mod explain;
mod follow;
mod get;
mod keys;
mod limits;
mod list;
mod logs;
mod submit;
mod submit_batch;
mod submit_ndjson;
mod usage;
mod users;
mod wait;

pub use follow::Follow;
