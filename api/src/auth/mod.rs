//! Who a request comes from, and what it may do.
//!
//! `key` knows the form of a key, `cache` keeps what Postgres said of it for a moment, `authenticate`
//! turns a header into a [`Caller`], `operator` into an [`Operator`]. Users come with a `token` that names their `sign_in`. A handler that acts for a tenant takes a `Caller`, one that
//! acts for the platform an `Operator`: without one it cannot be called.

mod attempts;
mod authenticate;
mod authority;
pub mod base62;
mod bearer;
mod cache;
mod fair_queue;
pub mod key;
mod one_time;
mod operator;
mod password;
mod refused;
mod sign_in;
mod standing;
pub mod token;
mod used;

pub(crate) use attempts::{Attempts, Trying};
pub use authenticate::{Actor, Authenticator, Caller};
pub(crate) use authority::Authority;
pub(crate) use bearer::ended;
pub use domain::access::{OperatorScope, Permission, Scope, ScopeSet};
pub(crate) use fair_queue::FairQueue;
pub(crate) use one_time::presented;
pub use one_time::{OneTime, Purpose, generate as one_time};
pub use operator::{Operator, OperatorAuthenticator};
pub use password::{PasswordError, Passwords};
pub(crate) use used::UsedKeys;
