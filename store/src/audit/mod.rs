//! The audit: who changed what, in which request, from what to what.
//!
//! A row is written in the transaction of the change it tells of: both are there, or neither. Its place in its tenant's
//! chain it gets a moment later, from the one scheduler that seals ([`seal_batch`]).

mod chain;
mod find;
mod seal;
mod write;

pub use chain::{chains, head, links};
pub use domain::audit::{Actor, AuditAction, By};
pub use find::{AuditFilter, AuditRecord, find, find_for_operator};
pub use seal::seal_batch;
pub use write::{Act, write};
pub(crate) use write::{record, record_and_commit};
