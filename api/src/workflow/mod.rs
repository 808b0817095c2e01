//! Workflows in JSON: whether a definition makes sense (`check`), what a node reads of others (`source`), what is shown (`view`).

mod check;
mod graph;
mod input;
mod node;
mod offline;
mod progress;
mod source;
mod view;

pub use check::{Checked, check};
pub use graph::graph;
pub use input::with_input;
pub use offline::check_offline;
pub use progress::progress;
pub use view::{run, version, workflow};
