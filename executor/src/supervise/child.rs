//! Prepares a child between fork and exec.
//!
//! Used by a supervisor for what it starts, and by the process beside an isolated command for the command.

use nix::libc;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::setsid;
use std::fs::File;
use std::io::Error;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What is special about a child.
#[derive(Debug, Default)]
pub(super) struct Preparation {
    /// Control groups to enter: files that take its process id.
    pub(super) doors: Vec<File>,
    /// Limits of the process itself, both soft and hard.
    pub(super) limits: Vec<(Resource, u64)>,
    /// Files that it inherits besides its three streams.
    pub(super) keep: Vec<RawFd>,
}

/// Has `command` do what only the child itself can do: begin a session of its own, away from the terminal that
/// the agent may have, take off our signal mask, stop ignoring what whoever
/// started the agent ignored, enter its groups, lower its limits, drop every file that is not its own, and ask
/// to be killed should its parent be.
///
/// A file that leaks into a command is a way out of it, so a kernel that cannot close them (before Linux
/// 5.11) starts nothing.
#[expect(unsafe_code, reason = "std has no safe way to prepare a child between fork and exec")]
pub(super) fn prepare(command: &mut Command, preparation: Preparation) {
    let Preparation { doors, mut limits, keep } = preparation;
    for (resource, wanted) in &mut limits {
        // Nobody may go above the hard limit; looked up here, where memory may still be allocated.
        *wanted = getrlimit(*resource).map_or(*wanted, |(_, hard)| hard.min(*wanted));
    }
    let prepare = move || {
        setsid()?;
        SigSet::empty().thread_set_mask()?;
        set_pdeathsig(Signal::SIGKILL)?;
        for signal in 1..=64 {
            // SAFETY: sets no handler; for numbers that cannot be changed it does nothing.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        for door in &doors {
            // SAFETY: writes one byte of a constant to an open file.
            let written = unsafe { libc::write(door.as_raw_fd(), c"0".as_ptr().cast(), 1) };
            if written != 1 {
                return Err(Error::last_os_error());
            }
        }
        for (resource, wanted) in &limits {
            setrlimit(*resource, *wanted, *wanted)?;
        }
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: closes nothing now, so that std's own pipe works until the exec.
        let marked = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags) };
        if marked != 0 {
            return Err(Error::last_os_error());
        }
        for kept in &keep {
            // SAFETY: changes one flag of an open file.
            unsafe { libc::fcntl(*kept, libc::F_SETFD, 0) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. These are system calls on
    // plain numbers and on lists made before: no allocation, no lock.
    unsafe { command.pre_exec(prepare) };
}
