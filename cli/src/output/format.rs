//! For whom the output is.

use clap::ValueEnum;

/// For whom standard output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: short, aligned.
    Table,
    /// For programs: as the API gives it, one document a line.
    Json,
}
