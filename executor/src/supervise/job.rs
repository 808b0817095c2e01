//! What the agent and a supervisor say to each other.
//!
//! Both ends are the same binary, so these may change freely. Times are nanoseconds of the machine's
//! monotonic clock (`monotonic_ns`), so that a message that was slow to arrive grants nothing.

use crate::cgroup::Place;
use crate::identity::Identity;
use crate::isolation::Sandbox;
use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The first message to a supervisor: what to start, and how long it may live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Program and arguments, at least the program.
    pub(crate) argv: Vec<String>,
    /// The whole environment.
    pub(crate) env: Vec<(String, String)>,
    /// What the command reads on standard input.
    pub(crate) stdin: Vec<u8>,
    /// Its work folder, which exists and belongs to it.
    pub(crate) folder: PathBuf,
    /// Whom it runs as; none: whoever the agent is.
    pub(crate) identity: Option<Identity>,
    /// No other running attempt has this user.
    pub(crate) own_user: bool,
    /// Time between the polite and the hard kill when it passes its cap, ms.
    pub(crate) kill_grace_ms: u64,
    /// When its cap is over.
    pub(crate) cap_until_ns: u64,
    /// When the executor's lease is over, unless an order prolongs it.
    pub(crate) lease_until_ns: u64,
    /// What surrounds it; none: nothing does.
    pub(crate) sandbox: Option<Sandbox>,
    /// Where its control groups are made; empty: nowhere.
    pub(crate) places: Vec<Place>,
    /// The name of its control groups.
    pub(crate) group: String,
    /// What it may use.
    pub(crate) limits: Limits,
    /// Nothing is to be run: only whether the sandbox holds is of interest.
    pub(crate) probe: bool,
}

/// A limit that was passed: which, and how much it allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Passed {
    /// Bytes.
    Memory(u64),
    Pids(u64),
    /// Bytes.
    Disk(u64),
    Inodes(u64),
    OpenFiles(u64),
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1024 * 1024;
        match self {
            Self::Memory(bytes) => write!(f, "memory: over its {} MiB", bytes / MIB),
            Self::Pids(most) => write!(f, "pids: over its {most} processes and threads"),
            Self::Disk(bytes) => write!(f, "disk: over its {} MiB", bytes / MIB),
            Self::Inodes(most) => write!(f, "inodes: over its {most} files and folders"),
            Self::OpenFiles(most) => write!(f, "open files: {most} in one process"),
        }?;
        f.write_str("; ")?;
        match self {
            Self::Memory(_) => f.write_str(&asked_for("memory_mib")),
            Self::Disk(_) => f.write_str(&asked_for("disk_mib")),
            Self::Pids(_) => f.write_str(&fixed_by("max_processes")),
            Self::Inodes(_) => f.write_str(&fixed_by("max_files")),
            Self::OpenFiles(_) => f.write_str(&fixed_by("max_open_files")),
        }
    }
}

/// How a customer raises a limit of the task's own.
fn asked_for(field: &str) -> String {
    format!("choose a larger `tier` (--tier) or raise `resources.{field}`")
}

/// Who raises a limit that is the same for all tasks.
fn fixed_by(setting: &str) -> String {
    format!("the operator sets this limit for all tasks (`executor.{setting}`)")
}

/// What the agent says later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// The lease was confirmed and now lasts until this time.
    LeaseUntil(u64),
    /// Ask it to end; after the grace, in ms, kill it.
    Stop { grace_ms: u64 },
    /// Kill everything now.
    Kill,
}

/// What a supervisor says: once `Started` and then `Ended`, or once `NotStarted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The program runs.
    Started,
    /// Nothing was started.
    NotStarted(NotStarted),
    /// The command has ended and nothing it started is left.
    Ended(Ended),
}

/// Why nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NotStarted {
    /// The executor's lease was over before the command could start.
    LeaseOver,
    /// The system refused: no such program, no permission.
    Refused(String),
    /// What it needs around it could not be made.
    Unable(String),
}

/// What a command that succeeded has written to the file of its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Returned {
    /// All of it.
    Bytes(Vec<u8>),
    /// It has so many bytes, which are too many.
    TooLarge(u64),
    /// It cannot be read, and why: "is a symbolic link; ...".
    Unusable(String),
}

/// How the main process ended, and on whose account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// How the main process ended.
    pub(crate) status: Status,
    /// What made it end.
    pub(crate) cause: Cause,
    /// Of one that succeeded by itself, where it has written that file.
    pub(crate) returned: Option<Returned>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal; 0 when its number could not be learnt.
    Signalled(i32),
}

/// What made a command end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cause {
    /// It ended without being asked.
    Itself,
    /// It passed its cap.
    Cap,
    /// `Order::Stop`.
    Stop,
    /// `Order::Kill`.
    Kill,
    /// It wanted more than it may use.
    Passed(Passed),
    /// The executor's lease was over.
    Lease,
    /// The agent is gone. Nobody hears this report.
    AgentGone,
}
