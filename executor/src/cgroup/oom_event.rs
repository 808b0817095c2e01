//! Receives the kernel's notice that it is about to kill something of a group for want of memory.
//!
//! Of version 1 only: there it kills one process, and the rest of an attempt would go on until the next poll. In
//! version 2 it kills all of a group at once (`memory.oom.group`).

use nix::errno::Errno;
use nix::libc;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

/// Readable once the memory was used up.
#[derive(Debug)]
pub(crate) struct OomEvent {
    counter: File,
}

impl OomEvent {
    /// Of the group in `folder`.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let counter = File::from(counter()?);
        let control = File::open(folder.join("memory.oom_control"))?;
        let line = format!("{} {}", counter.as_raw_fd(), control.as_raw_fd());
        fs::write(folder.join("cgroup.event_control"), line)?;
        Ok(Self { counter })
    }

    /// True when there was a notice since the last call.
    pub(crate) fn received(&mut self) -> bool {
        use std::io::Read;
        self.counter.read(&mut [0; 8]).is_ok()
    }
}

impl AsFd for OomEvent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.counter.as_fd()
    }
}

#[expect(unsafe_code, reason = "nix has it behind a feature of its own, std not at all")]
fn counter() -> io::Result<OwnedFd> {
    // SAFETY: takes two numbers.
    let number = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    let number = Errno::result(number)?;
    // SAFETY: it was opened just now and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
