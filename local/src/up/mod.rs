//! `berth up`: a whole Berth by one command.
//!
//! Embedded (the default): all roles and an executor in this process, with hints in memory, on a private Postgres. Full
//! (`--full`): one process per role, with RabbitMQ. Both keep everything in one data folder and go on
//! with it at the next start, whatever ended the last one.

mod announce;
mod arguments;
pub mod child;
mod demo;
mod engine;
mod folder;
mod listen;
mod operator;
pub mod probe;
mod roles;
mod run;
mod secrets;
mod settings;
mod tenant;

pub use arguments::UpArguments;
pub use run::run;
