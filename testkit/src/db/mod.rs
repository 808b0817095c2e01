//! A migrated database for each test, in milliseconds: cloned from a template that is made once a cluster.
//!
//! Used by every test that needs Postgres. The rule: tests share a cluster, never a database.

mod template;
mod test_database;
mod urls;

pub use test_database::{SERVICE_PASSWORD, TestDatabase};
