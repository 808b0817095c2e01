//! One request as a handler gets it: everything before it has been read and checked.
//!
//! `server::dispatch` makes a [`Call`] of it and hands that to the handler. Made from what `request` reads, for whoever
//! `auth` knows.

mod handler;
mod idempotency;
mod repeatable;

pub use handler::{Call, OpenCall, OperatorCall, SignInCall};
pub use idempotency::{KeyText, idempotency_key, idempotency_text, key_reused};
pub use repeatable::repeatable;
