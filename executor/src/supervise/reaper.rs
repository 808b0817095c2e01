//! Collects ended processes: the command's main process, and whatever it left to us.
//!
//! `reap` is the only place that learns how the main process ended, and the only proof that nothing
//! is left: a process with descendants has children, so "no child" means "no descendant".

use super::job::Status;
use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

/// Whether anything of the command is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Something,
    Nothing,
}

#[derive(Debug)]
pub(super) struct Reaper {
    main: Child,
    status: Option<Status>,
}

impl Reaper {
    pub(super) const fn new(main: Child) -> Self {
        Self { main, status: None }
    }

    /// How the main process ended; none while it runs.
    pub(super) const fn status(&self) -> Option<Status> {
        self.status
    }

    /// Collects everything that has ended by now.
    pub(super) fn reap(&mut self) -> Left {
        loop {
            self.reap_main();
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return Left::Something,
                Ok(ended) => self.note(ended),
                Err(Errno::ECHILD) => return Left::Nothing,
                // EINTR, and EINVAL for a signal number that nix has no name for: look again.
                Err(_) => {}
            }
        }
    }

    /// Asked first and by std, which knows every signal number.
    fn reap_main(&mut self) {
        if self.status.is_none() {
            self.status = match self.main.try_wait() {
                Ok(status) => status.map(status_of),
                // Somebody else collected it: only the line below could have.
                Err(_) => Some(Status::Signalled(0)),
            };
        }
    }

    fn note(&mut self, ended: WaitStatus) {
        let is_main = |pid: Pid| i64::from(pid.as_raw()) == i64::from(self.main.id());
        match ended {
            WaitStatus::Exited(pid, code) if is_main(pid) => {
                self.status = Some(Status::Exited(code))
            }
            WaitStatus::Signaled(pid, signal, _) if is_main(pid) => {
                self.status = Some(Status::Signalled(signal as i32));
            }
            _ => {}
        }
    }
}

fn status_of(status: ExitStatus) -> Status {
    status.code().map_or_else(|| Status::Signalled(status.signal().unwrap_or(0)), Status::Exited)
}
