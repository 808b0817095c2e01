//! What a request brings: its ids, query, body and idempotency key, each read and checked in one place.
//!
//! `server::dispatch` makes a [`Call`] of it all and hands that to the handler.

mod body;
mod call;
mod id;
mod idempotency;
mod inflate;
pub mod json;
mod lines;
mod memory;
mod mismatch;
mod objects;
mod peer;
mod query;
mod repeatable;
mod unread;
mod version;

pub(crate) use body::plain_length;
pub use body::{BodyRule, Incoming, Media};
pub use call::{Call, OpenCall, OperatorCall, SignInCall};
pub use id::RequestId;
pub(crate) use id::RequestIds;
pub use idempotency::{
    KeyText, idempotency_key, idempotency_text, key_reused, mark_replayed, replayed,
};
pub use json::nothing;
pub use lines::{Line, Lines};
pub(crate) use memory::{FREE, Hold, Holder, Memory};
pub use peer::{Peer, peer};
pub use query::Query;
pub(crate) use query::{text_time, time as time_parameter, wrong as wrong_parameter};
pub use repeatable::repeatable;
pub(crate) use unread::Unread;
pub(crate) use version::wanted_version;
