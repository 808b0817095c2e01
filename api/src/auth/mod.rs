//! Who a request comes from, and what it may do.
//!
//! `key` knows the form of an API key, `cache` keeps what Postgres said of it for a moment, `authenticate`
//! turns a header into a [`Caller`]. A handler that acts for a tenant takes a `Caller`: without one it
//! cannot be called.

mod authenticate;
pub mod base62;
mod cache;
pub mod key;
mod scope;
mod used;

pub use authenticate::{Authenticator, Caller};
pub use scope::{Scope, ScopeSet};
pub(crate) use used::UsedKeys;
