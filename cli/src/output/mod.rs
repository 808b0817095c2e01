//! What goes to standard output and standard error.

mod format;
mod write;

pub use format::Format;
pub use write::{complain, line, remark};
