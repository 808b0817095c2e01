//! WHERE: which executor runs a task, under which lease, and how the lease ends.
//!
//! Owns the executors that are connected to it, each under an epoch on its session row. Its memory (leases and free
//! room) is rebuilt from the live leases when an executor connects; the rows decide. May be killed at any time:
//! executors connect elsewhere and are adopted there.
#![warn(missing_docs)]

mod ends;
mod fleet;
mod heartbeat;
mod lease_store;
mod metrics;
mod output;
mod place;
mod quarantine;
mod reap;
mod report;
mod retry;
mod returned;
mod settle;
mod start;
mod stop;
mod stream;
#[cfg(test)]
mod testing;
mod trace;

pub use start::{ResourceManager, StartError};
