//! Brings a database to this version: tables, what the service roles may do there, and their logins.
//!
//! Run by `berth migrate` and by tests, as the owner of the tables. The statements are in `migrations/`, compiled in.
//! Each runs once, in a transaction. What a dump does not bring along, or brings along for roles of another cluster, is put right each
//! time: roles (`roles`), grants and policies (`access`), and who may connect (`database`).

mod access;
mod database;
mod installation;
mod names;
mod print;
mod roles;
mod run;
mod verifier;

pub use names::migrator;
pub use print::print_roles;
pub use run::{How, Migrated, run};
