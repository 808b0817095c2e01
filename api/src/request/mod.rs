//! What a request brings: its ids, query and body, each read and checked in one place.
//!
//! `server::dispatch` makes a `Call` of it all and hands that to the handler.

mod body;
mod event_stream;
mod given;
mod gzip;
mod head;
mod id;
mod inflate;
pub mod json;
mod lines;
mod memory;
mod mismatch;
mod objects;
mod path;
mod peer;
mod query;
mod unread;
mod version;

pub use body::{BodyRule, Incoming, Media};
pub(crate) use body::{SentSize, plain_length};
pub(crate) use event_stream::accepts_events;
pub(crate) use given::given;
pub use gzip::accepts_gzip;
pub use head::Head;
pub(crate) use head::Made;
pub use id::RequestId;
pub(crate) use id::RequestIds;
pub use json::nothing;
pub use lines::{Lines, NdjsonLine};
pub(crate) use memory::{FREE, Hold, Holder, Memory};
pub(crate) use path::text_in_path;
pub use peer::peer;
pub use query::Query;
pub(crate) use query::{text_time, time as time_parameter, wrong as wrong_parameter};
pub(crate) use unread::Unread;
pub(crate) use version::{other_version, wanted_version};
