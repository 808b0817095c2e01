//! The file for tokens of new users, which are secrets and so never on a terminal or in a log of CI.

use crate::failure::Failure;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

/// Opens the file to append to it; a new one only its owner can read.
pub(super) fn open(path: &str) -> Result<File, Failure> {
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    opened.map_err(|error| Failure::usage(format!("cannot write {path}: {error}")))
}

/// Adds a token: `EMAIL TOKEN`.
pub(super) fn add(mut file: &File, email: &str, token: &str) -> std::io::Result<()> {
    file.write_all(format!("{email} {token}\n").as_bytes())?;
    file.sync_data()
}
