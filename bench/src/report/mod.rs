//! Results as a table and as JSON.

mod chart;
mod file;
mod machine;
mod results;
mod table;

pub use machine::{Machine, Versions};
pub use results::{Measured, Results};

/// Prints the table and writes the file. Fails when a figure is void or misses what it must reach, after both were written.
pub fn publish(results: &Results) -> anyhow::Result<()> {
    table::print(results)?;
    let path = file::write(results)?;
    crate::progress::say(&format!("written to {}", path.display()));
    anyhow::ensure!(
        results.problems.is_empty(),
        "void or missed:\n  {}",
        results.problems.join("\n  ")
    );
    Ok(())
}
