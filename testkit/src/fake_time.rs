//! A wall clock that is wrong for one process, by libfaketime.
//!
//! Its monotonic clock stays right: that is what a machine whose clock was set has.

use std::path::PathBuf;

/// Where Debian's package `libfaketime` puts it, on any architecture: the one for programs of many threads.
const FOLDERS: &str = "/usr/lib";

/// The library; `None` where it is not installed.
#[must_use]
pub fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir(FOLDERS).ok()?;
    folders
        .filter_map(Result::ok)
        .map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.is_file())
}

/// What a process needs in its environment so that its wall clock is off by `seconds`, ahead where that is above 0.
#[must_use]
pub fn environment(library: &std::path::Path, seconds: i32) -> [(&'static str, String); 4] {
    [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME", format!("{seconds:+}s")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}
