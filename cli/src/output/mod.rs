//! What goes to standard output and standard error.

pub mod age;
pub mod cell;
mod details;
mod format;
mod table;
mod write;

pub use details::Details;
pub use format::Format;
pub use table::Table;
pub use write::{bytes, complain, document, line, remark, text};
