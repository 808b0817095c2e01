//! What goes to standard output and standard error.

pub mod age;
mod details;
pub mod paint;
mod progress;
mod table;

pub use details::Details;
pub use local::output::{
    Format, bytes, cell, complain, document, is_terminal, is_terminal_for_remarks, line, redraw,
    remark, text,
};
pub use progress::Progress;
pub use table::Table;
