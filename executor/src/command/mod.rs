//! The driver that starts a program.
//!
//! The agent prepares (work folder, environment), a supervisor process runs and ends it, and one task
//! of the agent carries orders there and the report back.

mod attempt;
mod environment;
mod establish;
mod folder;
mod leftovers;
mod probe;
mod spawner;

pub(crate) use attempt::{Assigned, CommandEnd, UNABLE_HOLD, run};
pub use establish::IsolationError;
pub(crate) use establish::{Isolation, establish};
pub(crate) use folder::WorkFolders;
pub(crate) use leftovers::clean;
pub(crate) use spawner::Spawner;
