//! The driver that starts a program.
//!
//! The agent prepares (work folder, environment), a supervisor process runs and ends it, and one task
//! of the agent carries orders there and the report back.

mod attempt;
mod driver;
mod ending;
mod environment;
mod establish;
mod folder;
mod leftovers;
mod probe;
mod spawner;

pub(crate) use attempt::UNABLE_HOLD;
pub(crate) use driver::CommandDriver;
pub use establish::IsolationError;
pub(crate) use establish::establish;
pub(crate) use folder::WorkFolders;
pub(crate) use leftovers::clean;
pub(crate) use spawner::Spawner;
