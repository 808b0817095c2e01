//! Durable submits: nobody is answered before the commit.
//!
//! - `queue` holds the single submits of all requests.
//! - A free `writer` stores all that are queued in one statement; `writers` runs it on the threads that serve requests.
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
mod writers;

pub use outcome::Verdict;
pub(crate) use pools::Pools;
pub(crate) use queue::{Intake, queue};
pub(crate) use work::Work;
pub(crate) use writers::Writers;
