//! What goes to standard output and standard error.

pub mod age;
pub mod cell;
mod details;
mod format;
pub mod paint;
mod progress;
mod table;
mod write;

pub use details::Details;
pub use format::Format;
pub use progress::Progress;
pub use table::Table;
pub use write::{
    bytes, complain, document, is_terminal, is_terminal_for_remarks, line, redraw, remark, text,
};
