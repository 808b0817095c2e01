//! Writes to standard output and standard error.
//!
//! Used by every command instead of `println!`, which panics when `berth list | head` has seen enough: here that ends
//! the command quietly, and successfully.

use crate::failure::Failure;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// One line on standard output, out at once: whoever started us may wait for it.
pub fn line(text: &str) -> Result<(), Failure> {
    bytes(&mut io::stdout().lock(), format!("{text}\n").as_bytes())
}

/// Lines on standard output, each with its end.
pub fn text(text: &str) -> Result<(), Failure> {
    bytes(&mut io::stdout().lock(), text.as_bytes())
}

/// The same in place of what the terminal shows.
pub fn redraw(text: &str) -> Result<(), Failure> {
    bytes(&mut io::stdout().lock(), format!("\u{1b}[H\u{1b}[2J{text}").as_bytes())
}

/// Whether a person looks at standard output.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether a person looks at standard error.
pub fn is_terminal_for_remarks() -> bool {
    io::stderr().is_terminal()
}

/// A JSON document as the API gave it, on a line of its own.
pub fn document(json: &[u8]) -> Result<(), Failure> {
    let mut line = json.to_vec();
    line.push(b'\n');
    bytes(&mut io::stdout().lock(), &line)
}

/// Writes and flushes.
pub fn bytes(to: &mut impl Write, bytes: &[u8]) -> Result<(), Failure> {
    to.write_all(bytes).and_then(|()| to.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::failed(format!("cannot write: {error}")),
    })
}

/// A remark for people on standard error, so that standard output holds only what was asked for.
pub fn remark(text: &str) {
    let _unwritable = writeln!(io::stderr().lock(), "{text}");
}

/// The failure on standard error. Where even that cannot be written the exit code has to do.
pub fn complain(failure: &Failure) {
    if !failure.is_reader_gone() {
        remark(&format!("berth: {failure}"));
    }
}
