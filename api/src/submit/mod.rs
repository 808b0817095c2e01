//! Durable submits: nobody is answered before the commit.
//!
//! `queue` takes single submits from all requests; `writer` stores whatever waits in one statement, on the threads where `writers` puts it;
//! `gathering` says when a statement waits for more of them; `group` coalesces equal idempotency keys within it; `pools` knows which pools there are;
//! `work` wakes who has to do with what was stored.

mod failure;
mod gathering;
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
pub(crate) use writer::REPEATS;
pub(crate) use writers::Writers;
