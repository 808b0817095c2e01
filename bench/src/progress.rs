//! Says on standard error what is being done, so that nobody waits in front of a silent terminal.

use std::io::Write;

/// One line, at once.
pub fn say(line: &str) {
    let mut error = std::io::stderr().lock();
    let _closed_terminal = writeln!(error, "bench: {line}");
}
