//! Results on disk, from before they are first sent until they are answered.
//!
//! An attempt that ended must not run again only because its executor died before it could say so. One
//! thread writes: whatever has accumulated goes out as one write and one sync.

mod file;
mod record;
mod writer;

pub use file::SpoolError;
pub(crate) use file::SpoolFile;
pub(crate) use writer::{Spool, Written};
