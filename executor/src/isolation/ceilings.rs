//! From what a task asked for to the limits it is held to.

use super::bubblewrap::{Bubblewrap, Sandbox};
use crate::capacity;
use crate::cgroup::Place;
use crate::limits::Limits;
use protocol::Capacity;
use runtime::config::ExecutorConfig;
use std::path::PathBuf;

const MIB: u64 = 1024 * 1024;

/// What surrounds and limits one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measures {
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) places: Vec<Place>,
    pub(crate) limits: Limits,
}

/// Limits that are the same for all attempts.
#[derive(Debug, Clone)]
pub(crate) struct Ceilings {
    /// What this executor has: the limit of an attempt that asked for nothing.
    whole: Capacity,
    max_processes: u32,
    max_open_files: u32,
    max_files: u32,
    visible: Vec<PathBuf>,
}

impl Ceilings {
    pub(crate) fn of(config: &ExecutorConfig) -> Self {
        Self {
            whole: capacity::announced(config),
            max_processes: config.max_processes,
            max_open_files: config.max_open_files,
            max_files: config.max_files,
            visible: config.visible_paths.clone(),
        }
    }

    /// The limits of an attempt that was given `resources`.
    pub(crate) fn limits(&self, resources: &Capacity) -> Limits {
        // What neither the task nor the machine could say is not limited.
        let or_all = |asked: u32, whole: u32| {
            let amount = [asked, whole].into_iter().find(|amount| *amount > 0);
            u64::from(amount.unwrap_or(u32::MAX))
        };
        Limits {
            memory_bytes: or_all(resources.memory_mib, self.whole.memory_mib) * MIB,
            cpu_millis: or_all(resources.cpu_millis, self.whole.cpu_millis),
            disk_bytes: or_all(resources.disk_mib, self.whole.disk_mib) * MIB,
            processes: self.max_processes.into(),
            open_files: self.max_open_files.into(),
            files: self.max_files.into(),
        }
    }

    /// What surrounds an attempt with these limits. Its /tmp lives in memory, so it is no larger than the memory, nor
    /// than the disk that was asked for.
    pub(crate) fn sandbox(&self, with: &Bubblewrap, limits: &Limits, network: bool) -> Sandbox {
        let tmp_bytes = limits.disk_bytes.min(limits.memory_bytes).max(MIB);
        let Bubblewrap { program, user_mounts } = with.clone();
        Sandbox { program, visible: self.visible.clone(), network, tmp_bytes, user_mounts }
    }
}
