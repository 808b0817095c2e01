//! Starts the roles: one as a process (`berth api`, ...), or a whole Berth on one machine with its engines (`berth up`).
//!
//! Used by `cli`, which reads the command line and ends the process with the exit code of a [`failure::Failure`].

pub mod database;
pub mod failure;
pub mod operator_key;
pub mod output;
pub mod role;
pub mod settings_arguments;
pub mod up;
