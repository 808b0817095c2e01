//! Durable submits: nobody is answered before the commit.
//!
//! - `queue` holds the single submits of all requests.
//! - A free `writer` stores all that are queued in one statement.
//! - `group` coalesces equal idempotency keys within it.
//! - `pools` caches which pools there are.
//! - `work` wakes the loops that handle what was stored.

mod failure;
mod group;
mod outcome;
mod pools;
mod queue;
mod work;
mod writer;

pub use outcome::Verdict;
pub(crate) use pools::Pools;
pub(crate) use queue::{Intake, queue};
pub(crate) use work::Work;
pub(crate) use writer::Writer;
