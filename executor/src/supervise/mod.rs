//! The supervisor: one small process for each attempt, between the agent and the command.
//!
//! It exists because only a parent can promise that nothing of a command lives on: it is the reaper of
//! everything the command leaves behind (`setsid`, double forks, `nohup`), and it ends when the command
//! has ended and no descendant is left, never before. It is the same binary, started again with a
//! hidden first argument, single-threaded and free of tokio. It holds the attempt to its cap and to
//! the executor's lease by itself, so that an agent which was killed, paused or swapped out cannot
//! make an attempt outlive its right to run.
//!
//! An isolated command has a second small process beside it (`inside`), in its own namespaces: bubblewrap
//! tells neither a signal from an exit code nor a missing program from a failed one, and that process does.

mod child;
mod clock;
mod control;
mod disk;
mod entry;
mod guard;
mod held;
mod inside;
mod job;
mod names;
mod oom;
mod overlay;
mod program;
mod reaper;
mod returned;
mod sandbox;
mod start;
mod wall;
mod watch;

pub(crate) use clock::{monotonic_ns, until_ns};
pub(crate) use control::{Decoder, encode};
pub use entry::maybe_run;
#[cfg(test)]
pub(crate) use job::Passed;
pub(crate) use job::{Cause, Ended, Job, NotStarted, Order, Report, Returned, Status};
pub(crate) use oom::protect;
pub(crate) use returned::RESULT_FILE;
