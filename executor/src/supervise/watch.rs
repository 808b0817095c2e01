//! A supervisor's life while its command runs.
//!
//! Waits for whatever comes first: the command's end, an order, the cap, the lease's end, the agent's
//! death. Ends only when nothing of the command is left, and says so last, because the agent takes
//! that word as proof that the resources are free.

use super::clock::monotonic_ns;
use super::control::{Decoder, SuperviseError, send_report};
use super::guard::Guard;
use super::job::{Cause, Ended, Job, Order, Passed, Report, Status};
use super::reaper::{Left, Reaper};
use super::returned::returned;
use super::start::Started;
use super::wall::Wall;
use crate::identity::Identity;
use crate::sweep;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::{Pid, getpid, getppid};
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
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
    guard: Guard,
    /// The work folder, and whose files in it are the command's.
    work: (PathBuf, Option<Identity>),
    /// bubblewrap and our process in it; none around a command that is not isolated.
    wall: Option<Wall>,
    grace_ns: u64,
    cap_until_ns: u64,
    lease_until_ns: u64,
    /// Set once it was asked to end: on whose account, and when patience is over.
    asked: Option<(Cause, u64)>,
}

impl Watch {
    pub(super) fn new(ears: Ears, started: Started, job: &Job) -> Result<Self, SuperviseError> {
        let Started { main, inside, guard, work } = started;
        let main_pid = Pid::from_raw(main.id().cast_signed());
        Ok(Self {
            ears,
            reaper: Reaper::new(main),
            guard,
            work: (work, job.identity),
            wall: inside.map(|words| Wall::new(main_pid, words)).transpose()?,
            grace_ns: job.kill_grace_ms.saturating_mul(NANOS_PER_MS),
            cap_until_ns: job.cap_until_ns,
            lease_until_ns: job.lease_until_ns,
            asked: None,
        })
    }

    pub(super) fn run(mut self) -> Result<(), SuperviseError> {
        if self.wall.is_none() {
            self.started();
        }
        self.ears.control.set_nonblocking(true)?;
        let cause = self.until_over();
        // Before the rest is killed: to kill it forbids it to fork, and the kernel counts that as well.
        let refused = self.guard.refused_by_the_kernel();
        let status = self.kill_everything();
        let report = self.report(cause, status, refused);
        self.guard.remove();
        send_report(&mut self.ears.control, &report)
    }

    /// The command runs. Nobody hears of it when the agent is gone; that comes to light anyway.
    fn started(&mut self) {
        self.guard.command_runs();
        send_report(&mut self.ears.control, &Report::Started).ok();
        self.ears.control.set_nonblocking(true).ok();
    }

    /// What became of it, in the words of whoever was nearest. `refused` is what it had been refused when it was over.
    fn report(&self, cause: Cause, status: Status, refused: Option<Passed>) -> Report {
        let inner = self.wall.as_ref().map(|wall| wall.status_of(status));
        let status = match inner {
            Some(Err(why)) if cause == Cause::Itself => return Report::NotStarted(why),
            Some(Ok(status)) => status,
            _ => status,
        };
        let cause = match cause {
            Cause::Itself => {
                let passed = refused.or_else(|| self.guard.exceeded_by(status));
                passed.map_or(cause, Cause::Passed)
            }
            asked => asked,
        };
        let succeeded = (status, cause) == (Status::Exited(0), Cause::Itself);
        let returned = if succeeded { returned(&self.work.0, self.work.1) } else { None };
        Report::Ended(Ended { status, cause, returned })
    }

    /// Hears what our process inside says.
    fn heed_the_wall(&mut self) {
        if self.wall.as_mut().is_some_and(Wall::listen) {
            self.started();
        }
    }

    /// Waits until the main process has ended or must be killed, and says why. Once it was asked to end, what it has
    /// left running has the same time to end as itself.
    fn until_over(&mut self) -> Cause {
        loop {
            // The lease first: after a pause nothing else may happen before it.
            let now = monotonic_ns();
            let left = self.reaper.reap();
            self.heed_the_wall();
            if self.main_has_ended() && (self.asked.is_none() || left == Left::Nothing) {
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
            if let Some(passed) = self.guard.look() {
                return Cause::Passed(passed);
            }
            self.wait(self.next_deadline().saturating_sub(monotonic_ns()));
            if let Some(cause) = self.heed_signals().or_else(|| self.heed_orders()) {
                return cause;
            }
        }
    }

    fn main_has_ended(&self) -> bool {
        self.reaper.status().is_some() || self.wall.as_ref().is_some_and(Wall::has_left_something)
    }

    fn next_deadline(&self) -> u64 {
        let own = self.asked.map_or(self.cap_until_ns, |(_, kill_at)| kill_at);
        own.min(self.lease_until_ns).min(self.guard.next_look_ns())
    }

    /// Sleeps until something happened or so many nanoseconds are over, rounded up.
    fn wait(&self, nanos: u64) {
        let ms = i32::try_from(nanos.div_ceil(NANOS_PER_MS)).unwrap_or(i32::MAX);
        let timeout = PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX);
        let source = |file| PollFd::new(file, PollFlags::POLLIN);
        let mut sources =
            vec![source(self.ears.signals.as_fd()), source(self.ears.control.as_fd())];
        sources.extend(self.wall.as_ref().and_then(Wall::words).map(source));
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

    /// Asks the whole tree to end, as one. The first cause stays; a later request can only shorten the grace.
    fn ask(&mut self, cause: Cause, grace_ns: u64) {
        let now = monotonic_ns();
        let kill_at = now.saturating_add(grace_ns);
        if let Some((_, patience)) = &mut self.asked {
            *patience = kill_at.min(*patience);
            return;
        }
        if self.wall.as_ref().is_some_and(|wall| !wall.has_started()) {
            // The command does not run yet, and must not begin to.
            self.asked = Some((cause, now));
            return;
        }
        self.asked = Some((cause, kill_at));
        // bubblewrap would end at once, and everything in it would die without the grace.
        let outer = self.wall.as_ref().map(|wall| wall.outer().as_raw());
        sweep::terminate_descendants(getpid().as_raw(), outer);
    }

    /// Returns only when no descendant is left and the kernel lists nothing of it either.
    fn kill_everything(&mut self) -> Status {
        let mut pause = Duration::from_millis(1);
        if self.reaper.reap() == Left::Something {
            // Stopped first, all of it: whoever outlived another by a moment could begin something more.
            sweep::stop_descendants(getpid().as_raw());
        }
        if let Some(wall) = &self.wall
            && self.reaper.status().is_none()
        {
            // Everything inside dies with it, however much it forks.
            kill(wall.outer(), Signal::SIGKILL).ok();
        }
        while self.reaper.reap() == Left::Something || !self.guard.is_empty() {
            self.guard.kill();
            sweep::kill_descendants(getpid().as_raw());
            if self.reaper.reap() == Left::Nothing && self.guard.is_empty() {
                break;
            }
            // A killed process takes a moment to go; one that hangs in the kernel is asked for less often.
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
        self.heed_the_wall();
        self.reaper.status().unwrap_or(Status::Signalled(Errno::UnknownErrno as i32))
    }
}
