//! The HTTP API: thin handlers over `store`, with authentication, limits and the error table.
//!
//! [`start`] takes settings and returns a handle. `routes::table` is the list of everything it answers;
//! `server::dispatch` is what every request goes through; `problem` is what goes wrong. The rule: a 2xx on
//! a write means that it is committed, and nobody is shown anything of another tenant.

pub mod answer;
pub mod auth;
pub mod call;
mod cookie_key;
pub mod cursor;
pub mod description;
mod home;
mod invoice;
mod limit;
mod live;
pub mod openapi;
pub mod pagination;
mod pieces;
pub mod problem;
mod quota;
pub mod request;
pub mod routes;
pub mod schedule;
mod server;
mod share;
mod start_error;
mod state;
mod status;
mod submit;
pub mod task;
pub mod workflow;

pub use cookie_key::sign_in_path;
pub use server::{Handle, start};
pub use start_error::StartError;
