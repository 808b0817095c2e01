//! Starts the command.
//!
//! Called once by a supervisor. No shell: the program is found through the `PATH` it is given. It gets
//! its own process group, its own user and no other group, and inherits nothing but its three streams.

use super::job::Job;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal};
use std::fs::File;
use std::io::{Error, ErrorKind, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts what `job` says.
///
/// # Errors
/// What the system answers: no such program, no permission, a NUL in an argument.
pub(super) fn command(job: &Job) -> Result<Child, Error> {
    let (program, arguments) =
        job.argv.split_first().ok_or_else(|| Error::new(ErrorKind::InvalidInput, "no program"))?;
    // Entered here and not by the command, whose user may not be allowed to see the folders above.
    std::env::set_current_dir(&job.folder)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .stdin(standard_input(&job.stdin)?)
        .process_group(0);
    if let Some(identity) = job.identity {
        // Under root std drops all other groups when a user is set.
        command.uid(identity.uid).gid(identity.gid);
    }
    in_the_child(&mut command);
    command.spawn()
}

/// What only the child itself can do: take off our signal mask, stop ignoring what whoever started the
/// agent ignored, drop every file but the three streams, and ask to be killed should its supervisor be.
///
/// A file that leaks into a command is a way out of it, so a kernel that cannot close them (before Linux
/// 5.11) starts nothing.
#[expect(unsafe_code, reason = "std has no safe way to prepare a child between fork and exec")]
fn in_the_child(command: &mut Command) {
    let prepare = || {
        SigSet::empty().thread_set_mask()?;
        set_pdeathsig(Signal::SIGKILL)?;
        for signal in 1..=64 {
            // SAFETY: sets no handler; for numbers that cannot be changed it does nothing.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: closes nothing now, so that std's own pipe works until the exec.
        let marked = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags) };
        if marked == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. These are system calls on
    // plain numbers: no allocation, no lock.
    unsafe { command.pre_exec(prepare) };
}

/// Nothing, or a file in memory: a pipe would need somebody to write it while the command runs.
fn standard_input(text: &[u8]) -> Result<Stdio, Error> {
    if text.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create(c"stdin", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(text)?;
    file.rewind()?;
    Ok(file.into())
}
