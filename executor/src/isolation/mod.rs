//! How commands are kept apart: from the machine, from this executor, and from each other.
//!
//! Settled once at start, by trying (`command::establish`): what did not work then is not relied on, and the report says so.
//! The namespaces are bubblewrap's, the system call filter and the limits are ours. Where bubblewrap is missing
//! commands run as they did without it, still within the limits that this machine can enforce.

mod bubblewrap;
mod ceilings;
mod report;
mod seccomp;

pub(crate) use bubblewrap::{Bubblewrap, Handles, Sandbox, WORK, arguments};
pub(crate) use ceilings::{Ceilings, Measures};
pub(crate) use report::Works;
pub use report::{IsolationReport, Limit, Strength};
pub(crate) use seccomp::filters;
