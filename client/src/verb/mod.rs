//! One file a route.

mod attempts;
mod cancel;
mod get;
mod list;
mod logs;
mod submit;
mod submit_batch;
mod usage;
