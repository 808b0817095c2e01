//! Progress messages on standard error.

use std::io::Write;

/// One line, at once.
pub fn say(line: &str) {
    let mut error = std::io::stderr().lock();
    let _closed_terminal = writeln!(error, "bench: {line}");
}
