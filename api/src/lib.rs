//! The HTTP API: thin handlers over `store`, with authentication, limits and the error table.
//!
//! [`start`] takes settings and returns a handle. `routes::table` is the list of everything it answers;
//! `server::dispatch` is what every request goes through; `problem` is what goes wrong. The rule: a 2xx on
//! a write means that it is committed, and nobody is shown anything of another tenant.

pub mod answer;
pub mod auth;
pub mod cursor;
mod limit;
mod live;
pub mod openapi;
pub mod pagination;
pub mod problem;
mod quota;
pub mod request;
pub mod routes;
pub mod schedule;
mod server;
mod submit;
pub mod task;

pub use server::{Handle, StartError, start};
