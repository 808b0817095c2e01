//! `/v1/concurrency-limits`: how many tasks of a concurrency key run at once.
//!
//! Every key has a limit, stored or not, so that none is ever "not found": nobody learns which keys others use.

pub mod delete;
pub mod get;
pub mod list;
pub mod put;
mod view;
