//! The agent: one loop that owns everything an executor knows.
//!
//! Streams, attempts and the spool's thread send it events; it alone decides. Between waking up and
//! doing anything it looks at its lease, so that after any pause the fence comes first.

mod answers;
mod assign;
mod drain;
mod event;
mod fence;
mod finish;
mod heart;
mod outbound;
mod outbox;
mod sleepers;
mod start;
mod state;
mod stop;
mod streams;
mod turn;
mod work;

pub use start::{Executor, ExecutorError, Handle, run};
