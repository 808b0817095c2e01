//! Shared test support: real engines that a test may kill, a database a test, a bad network, an outside ledger,
//! and real `berth` processes. Used by tests and measurements only, never by a role.
//!
//! The rule: nothing here outlives the test process, even one that is killed, and nothing here touches a process,
//! port or folder it did not make. Every wait has a deadline and says what it waited for.

pub mod authority;
pub mod collector;
pub mod cpu;
pub mod db;
pub mod fake_time;
pub mod fill;
pub mod graphs;
pub mod ledger;
pub mod memory;
pub mod poll;
pub mod process;
pub mod program;
pub mod proxy;
pub mod psql;
pub mod schedules;
pub mod services;
pub mod settings;
pub mod spawn;
