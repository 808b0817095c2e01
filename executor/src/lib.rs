//! Runs work on one machine and reports how it went.
//!
//! An executor has no credentials for the database or the broker: it dials a resource manager, offers its
//! capacity, runs what it is assigned, and speaks of nothing else ([`protocol`]). What it promises:
//!
//! - Nothing of an attempt is alive when its end is reported, nor after its cap, a stop, the end of the
//!   executor's lease, or the executor's own death ([`supervise`]).
//! - A result is on disk before it is first sent, and is sent until it is answered.
//! - Without a confirmed heartbeat for two thirds of the term all work is killed.
//! - Its memory is bounded, whatever commands write.
//!
//! # What a command gets
//!
//! Exactly the environment its task gives, plus `BERTH_TASK_ID`, `BERTH_ATTEMPT`, `BERTH_DUE_AT`, `BERTH_SCHEDULE` when a
//! schedule made the task, `TRACEPARENT` when it is traced, and `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT` when it has ports.
//! Where the task gives none, `PATH` is the usual system folders and `HOME` the work folder; nothing is inherited. Its
//! standard input is the task's,
//! else empty. It starts in an empty folder of its own, which is removed afterwards, in its own process
//! group, without a terminal, without a way to gain privileges, and, when the executor is root, as a user that
//! no other running attempt has (`executor.run_as_uids`), without any other group.
//!
//! Where bubblewrap works it is isolated besides: it sees a read-only system, its work folder as `/work`, and nothing
//! of this machine's processes, network and other files ([`IsolationReport`] says what holds here). Where it
//! does not and the executor is not root, commands share its user and can signal their supervisors, so
//! keep strangers' commands away from there. Linux 5.11 or later is needed.
//!
//! # What an HTTP call gets
//!
//! One request, and its redirects, each over a connection of its own to an address that was checked
//! ([`egress`]). See `docs/http-tasks.md`.
//!
//! [`run`] is the whole role. A binary that calls it calls [`supervise::maybe_run`] first in `main`.
#![warn(missing_docs)]

mod agent;
mod arguments;
mod capacity;
mod cgroup;
mod command;
mod data_dir;
mod driver;
mod drivers;
mod due;
mod earlier;
mod http;
mod identity;
mod isolation;
mod limits;
mod metrics;
mod noop;
mod output;
mod spool;
mod stream;
pub mod supervise;
mod sweep;
mod term;

pub use agent::{Executor, ExecutorError, Handle, run};
pub use capacity::offered;
pub use command::IsolationError;
pub use data_dir::DataDirError;
pub use drivers::UnknownDriver;
pub use identity::IdentityError;
pub use isolation::{IsolationReport, Limit, Strength};
pub use spool::SpoolError;
pub use stream::DialError;
