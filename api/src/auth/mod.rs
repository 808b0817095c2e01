//! Who a request comes from, and what it may do.
//!
//! `key` knows the form of a key, `cache` keeps what Postgres said of it for a moment, `authenticate`
//! turns a header into a [`Caller`], `operator` into an [`Operator`]. A handler that acts for a tenant takes a `Caller`, one that
//! acts for the platform an `Operator`: without one it cannot be called.

mod authenticate;
pub mod base62;
mod bearer;
mod cache;
pub mod key;
mod operator;
mod used;

pub use authenticate::{Authenticator, Caller};
pub use domain::access::{OperatorScope, Permission, Scope, ScopeSet};
pub use operator::{Operator, OperatorAuthenticator};
pub(crate) use used::UsedKeys;
