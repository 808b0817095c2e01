//! For whom the output is.

use clap::ValueEnum;

/// For whom standard output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns, for people.
    Table,
    /// JSON as in the API, one document per line.
    Json,
}
