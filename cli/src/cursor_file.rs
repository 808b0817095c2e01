//! Where a reader goes on, in a file.

use crate::failure::Failure;
use client::Cursor;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The place that is stored in a file; none where there is no file.
pub(crate) fn stored(file: &Path) -> Result<Option<Cursor>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(Cursor::from(text.trim().to_owned()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::failed(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Stores a place, whole or not at all: a new file takes the place of the old one.
pub(crate) fn store(file: &Path, place: &Cursor) -> Result<(), Failure> {
    let next = file.with_added_extension("new");
    let written = File::create(&next).and_then(|mut new| {
        writeln!(new, "{}", place.as_str())?;
        new.sync_all()
    });
    written
        .and_then(|()| fs::rename(&next, file))
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", file.display())))
}
