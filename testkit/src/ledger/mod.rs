//! A ledger outside Berth: the commands themselves write down when they really ran.
//!
//! Used by end-to-end tests to hold Berth's own story against what happened. Each command appends one line when it
//! starts and one when it ends, in a single write to a file opened for appending, so lines never mix even from many
//! processes. `TASK ATTEMPT start|end MONOTONIC_NS WALL_NS`.

mod checks;
mod file;
mod line;
mod runs;

pub use file::Ledger;
pub use line::{Line, Mark};
pub use runs::{Run, Runs};
