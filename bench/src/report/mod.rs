//! Results as a table and as JSON.

mod chart;
mod file;
mod machine;
mod results;
mod table;

pub use file::write_json;
pub use machine::{Machine, Versions};
pub use results::{Measured, Results};
pub use table::{print_machine, shown};

/// Prints the table and writes the file. Fails when a figure is void, after both were written.
pub fn publish(results: &Results) -> anyhow::Result<()> {
    table::print(results)?;
    let path = file::write(results)?;
    crate::progress::say(&format!("written to {}", path.display()));
    anyhow::ensure!(results.problems.is_empty(), "void:\n  {}", results.problems.join("\n  "));
    Ok(())
}
