//! Writes to standard output and standard error without ever failing on a reader that went away.
//!
//! Used by every command instead of `println!`, which panics when `berth list | head` has seen enough.

use crate::failure::Failure;
use std::io::{self, ErrorKind, Write};

/// One line on standard output, out at once: whoever started us may wait for it.
pub fn line(text: &str) -> Result<(), Failure> {
    bytes(&mut io::stdout().lock(), format!("{text}\n").as_bytes())
}

/// Writes and flushes. A reader that has gone is no failure: it has what it wanted.
pub fn bytes(to: &mut impl Write, bytes: &[u8]) -> Result<(), Failure> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!("cannot write: {error}"))),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A remark for people on standard error, so that standard output holds only what was asked for.
pub fn remark(text: &str) {
    let _unwritable = writeln!(io::stderr().lock(), "{text}");
}

/// The failure on standard error. Where even that cannot be written the exit code has to do.
pub fn complain(failure: &Failure) {
    let _unwritable = writeln!(io::stderr().lock(), "berth: {failure}");
}
