//! What a request brings: its ids, query, body and idempotency key, each read and checked in one place.
//!
//! `server::dispatch` makes a [`Call`] of it all and hands that to the handler.

mod body;
mod call;
mod id;
mod idempotency;
pub mod json;
mod query;

pub use body::BodyRule;
pub(crate) use body::read_body;
pub use call::{Call, OpenCall};
pub use id::RequestId;
pub(crate) use id::RequestIds;
pub use idempotency::idempotency_key;
pub use query::Query;
pub(crate) use query::wrong as wrong_parameter;
