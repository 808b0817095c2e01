//! Writes to standard output and standard error, without a panic where the reader has gone.

pub mod cell;
mod format;
mod write;

pub use format::Format;
pub use write::{
    bytes, complain, document, is_terminal, is_terminal_for_remarks, line, redraw, remark, text,
};
