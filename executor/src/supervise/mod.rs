//! The supervisor: one small process for each attempt, between the agent and the command.
//!
//! It exists because only a parent can promise that nothing of a command lives on: it is the reaper of
//! everything the command leaves behind (`setsid`, double forks, `nohup`), and it ends when the command
//! has ended and no descendant is left, never before. It is the same binary, started again with a
//! hidden first argument, single-threaded and free of tokio. It holds the attempt to its cap and to
//! the executor's lease by itself, so that an agent which was killed, paused or swapped out cannot
//! make an attempt outlive its right to run.

mod clock;
mod control;
mod entry;
mod job;
mod reaper;
mod start;
mod sweep;
mod watch;

pub(crate) use clock::monotonic_ns;
pub(crate) use control::{Decoder, encode};
pub(crate) use entry::HIDDEN_ARGUMENT;
pub use entry::maybe_run;
pub(crate) use job::{Cause, Ended, Identity, Job, NotStarted, Order, Report, Status};
pub(crate) use sweep::{all_pids, kill_pids};
