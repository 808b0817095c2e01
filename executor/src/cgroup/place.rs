//! Where groups of attempts can be made, and what the files in them are called.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Something that is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Controller {
    Memory,
    Pids,
    Cpu,
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// The kernel's name for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }
}

/// Which interface its files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Version {
    V1,
    V2,
}

/// The executor's folder for one controller. Version 2 has one folder for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) controller: Controller,
    pub(crate) version: Version,
    pub(crate) folder: PathBuf,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?}, {})", self.controller.name(), self.version, self.folder.display())
    }
}
