//! `berth apply` and `berth export`: what a tenant keeps by name, in files.
//!
//! `read` finds the objects of files, `check` brings them into the form of the server, `stored` reads what exists, `plan` says what has to
//! change, and `write` does it. The rule: nothing is written before every file has been checked.

mod check;
mod diff;
mod export;
mod invitations;
mod kind;
mod object;
mod plan;
mod read;
mod report;
mod run;
mod selector;
mod stored;
mod write;
mod yaml;

pub use export::{ExportArguments, run as export};
pub use run::{ApplyArguments, run as apply};
