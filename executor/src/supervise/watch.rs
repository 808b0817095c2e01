//! A supervisor's life while its command runs.
//!
//! Waits for whatever comes first: the command's end, an order, the cap, the lease's end, the agent's
//! death. Ends only when nothing of the command is left, and says so last, because the agent takes
//! that word as proof that the resources are free.

use super::clock::monotonic_ns;
use super::control::Decoder;
use super::entry::{SuperviseError, tell};
use super::job::{Cause, Ended, Job, Order, Report, Status};
use super::reaper::{Left, Reaper};
use super::sweep;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::unistd::{Pid, getpid, getppid};
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

const NANOS_PER_MS: u64 = 1_000_000;

/// Where a supervisor hears of things.
pub(super) struct Ears {
    pub(super) agent: Pid,
    pub(super) control: UnixStream,
    /// Holds what came together with the job.
    pub(super) decoder: Decoder,
    pub(super) signals: SignalFd,
}

pub(super) struct Watch {
    ears: Ears,
    reaper: Reaper,
    grace_ns: u64,
    cap_until_ns: u64,
    lease_until_ns: u64,
    /// Set once it was asked to end: on whose account, and when patience is over.
    asked: Option<(Cause, u64)>,
}

impl Watch {
    pub(super) fn new(ears: Ears, main: Child, job: &Job) -> Result<Self, SuperviseError> {
        ears.control.set_nonblocking(true)?;
        Ok(Self {
            ears,
            reaper: Reaper::new(main),
            grace_ns: job.kill_grace_ms.saturating_mul(NANOS_PER_MS),
            cap_until_ns: job.cap_until_ns,
            lease_until_ns: job.lease_until_ns,
            asked: None,
        })
    }

    pub(super) fn run(mut self) -> Result<(), SuperviseError> {
        let cause = self.until_over();
        let status = self.kill_everything();
        tell(&mut self.ears.control, &Report::Ended(Ended { status, cause }))
    }

    /// Waits until the main process has ended or must be killed, and says why.
    fn until_over(&mut self) -> Cause {
        loop {
            // The lease first: after a pause nothing else may happen before it.
            let now = monotonic_ns();
            self.reaper.reap();
            if self.reaper.status().is_some() {
                return self.asked.map_or(Cause::Itself, |(cause, _)| cause);
            }
            if now >= self.lease_until_ns {
                return Cause::Lease;
            }
            match self.asked {
                Some((cause, kill_at)) if now >= kill_at => return cause,
                None if now >= self.cap_until_ns => self.ask(Cause::Cap, self.grace_ns),
                _ => {}
            }
            self.wait(self.next_deadline().saturating_sub(monotonic_ns()));
            if let Some(cause) = self.heed_signals().or_else(|| self.heed_orders()) {
                return cause;
            }
        }
    }

    fn next_deadline(&self) -> u64 {
        let own = self.asked.map_or(self.cap_until_ns, |(_, kill_at)| kill_at);
        own.min(self.lease_until_ns)
    }

    /// Sleeps until something happened or so many nanoseconds are over, rounded up.
    fn wait(&self, nanos: u64) {
        let ms = i32::try_from(nanos.div_ceil(NANOS_PER_MS)).unwrap_or(i32::MAX);
        let timeout = PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX);
        let mut sources = [
            PollFd::new(self.ears.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.ears.control.as_fd(), PollFlags::POLLIN),
        ];
        // An error here is an interruption: the caller looks at everything anyway.
        poll(&mut sources, timeout).ok();
    }

    fn heed_signals(&mut self) -> Option<Cause> {
        while let Ok(Some(signal)) = self.ears.signals.read_signal() {
            match Signal::try_from(signal.ssi_signo.cast_signed()) {
                // Comes when the thread that started us ends, too; only the agent's end matters.
                Ok(Signal::SIGUSR1) if getppid() != self.ears.agent => {
                    return Some(Cause::AgentGone);
                }
                Ok(Signal::SIGTERM) => self.ask(Cause::Stop, self.grace_ns),
                _ => {}
            }
        }
        None
    }

    fn heed_orders(&mut self) -> Option<Cause> {
        let mut piece = [0; 4096];
        loop {
            match self.ears.control.read(&mut piece) {
                Ok(0) => return Some(Cause::AgentGone),
                Ok(len) => self.ears.decoder.push(piece.get(..len).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Some(Cause::AgentGone),
            }
        }
        loop {
            match self.ears.decoder.next() {
                Ok(Some(Order::LeaseUntil(until))) => {
                    self.lease_until_ns = self.lease_until_ns.max(until);
                }
                Ok(Some(Order::Stop { grace_ms })) => {
                    self.ask(Cause::Stop, grace_ms.saturating_mul(NANOS_PER_MS));
                }
                Ok(Some(Order::Kill)) => return Some(Cause::Kill),
                Ok(None) => return None,
                // Not to be understood is as good as gone.
                Err(_) => return Some(Cause::AgentGone),
            }
        }
    }

    /// Asks the whole tree to end. The first cause stays; a later request can only shorten the grace.
    fn ask(&mut self, cause: Cause, grace_ns: u64) {
        let kill_at = monotonic_ns().saturating_add(grace_ns);
        if let Some((_, patience)) = &mut self.asked {
            *patience = kill_at.min(*patience);
            return;
        }
        self.asked = Some((cause, kill_at));
        let tree = sweep::descendants(getpid().as_raw());
        sweep::kill_pids(tree.iter().copied(), Signal::SIGTERM);
        // One that is stopped would not see it.
        sweep::kill_pids(tree, Signal::SIGCONT);
    }

    /// Returns only when no descendant is left.
    fn kill_everything(&mut self) -> Status {
        let mut pause = Duration::from_millis(1);
        while self.reaper.reap() == Left::Something {
            sweep::kill_descendants(getpid().as_raw());
            if self.reaper.reap() == Left::Nothing {
                break;
            }
            // A killed process takes a moment to go; one that hangs in the kernel is asked for less often.
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
        self.reaper.status().unwrap_or(Status::Signalled(Errno::UnknownErrno as i32))
    }
}
