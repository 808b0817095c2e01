//! What one attempt may use.
//!
//! Chosen by `isolation`, kept by control groups (`cgroup`) and by the supervisor (`supervise`).

use serde::{Deserialize, Serialize};

/// What an attempt may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: u64,
    /// Thousandths of a core.
    pub(crate) cpu_millis: u64,
    /// Processes and threads.
    pub(crate) processes: u64,
    /// Of the work folder.
    pub(crate) disk_bytes: u64,
    /// Of each process.
    pub(crate) open_files: u64,
    /// Files and folders in the work folder and the private /tmp.
    pub(crate) files: u64,
}
