//! Turns this process into a supervisor when the hidden argument asks for it.
//!
//! `main` calls `maybe_run` before anything else: before tokio starts threads (signals are blocked for
//! the calling thread only) and before arguments are parsed.

use super::control::{Decoder, FrameError};
use super::job::{Job, NotStarted, Report};
use super::oom::OomScore;
use super::watch::{Ears, Watch};
use super::{clock, inside, start};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getppid, setsid};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// First argument of a supervisor; the second is the agent's process id.
pub(crate) const HIDDEN_ARGUMENT: &str = "__supervise";
/// First argument of the process beside an isolated command; see `inside`.
pub(super) const INSIDE_ARGUMENT: &str = "__inside";
/// First argument of a process that only waits for the end of its input.
pub(crate) const REST_ARGUMENT: &str = "__rest";

/// Why a supervisor could not do its work. Nobody may be left to read it.
#[derive(Debug, thiserror::Error)]
pub(super) enum SuperviseError {
    #[error("a call to the system failed")]
    System(#[from] Errno),
    #[error("the agent could not be reached")]
    Control(#[from] std::io::Error),
    #[error("the agent was not understood")]
    Frame(#[from] FrameError),
}

/// Becomes a supervisor, or another of its helpers, and never returns, if the first argument says so; otherwise
/// does nothing.
///
/// Every binary that runs an executor must call this first in `main`.
pub fn maybe_run() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    let mut number = || arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let code = match first.as_ref().and_then(|first| first.to_str()) {
        Some(HIDDEN_ARGUMENT) => {
            number().map_or(2, |agent| i32::from(run(Pid::from_raw(agent)).is_err()))
        }
        Some(INSIDE_ARGUMENT) => match (number(), number()) {
            (Some(job), Some(words)) => i32::from(inside::run(job, words).is_err()),
            _ => 2,
        },
        Some(REST_ARGUMENT) => {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).map_or(1, |_| 0)
        }
        _ => return,
    };
    std::process::exit(code);
}

fn run(agent: Pid) -> Result<(), SuperviseError> {
    // Before `prepare`: a process that hides itself may not write there unless it is root.
    let oom = OomScore::open();
    let signals = prepare()?;
    let mut control = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    // The agent may have died before its death could be noticed.
    if getppid() != agent {
        return Ok(());
    }
    let mut decoder = Decoder::default();
    let Some(job) = read_job(&mut control, &mut decoder)? else { return Ok(()) };
    if clock::monotonic_ns() >= job.lease_until_ns {
        return tell(&mut control, &Report::NotStarted(NotStarted::LeaseOver));
    }
    match start::command(&job, &oom) {
        Ok(started) => Watch::new(Ears { agent, control, decoder, signals }, started, &job)?.run(),
        Err(why) => tell(&mut control, &Report::NotStarted(why)),
    }
}

/// Everything that must hold before a command may exist.
fn prepare() -> Result<SignalFd, Errno> {
    let all = SigSet::all();
    all.thread_block()?;
    // Both this signal and the end of the control socket tell of the agent's death.
    prctl::set_pdeathsig(Signal::SIGUSR1)?;
    // Whatever the command leaves behind becomes our child.
    prctl::set_child_subreaper(true)?;
    prctl::set_no_new_privs()?;
    // Hides the job, secrets included, from other commands of the same user.
    prctl::set_dumpable(false)?;
    // A Ctrl-C for the agent must not reach the command: the agent drains.
    setsid()?;
    SignalFd::with_flags(&all, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// None when the agent is gone.
fn read_job(
    control: &mut UnixStream,
    decoder: &mut Decoder,
) -> Result<Option<Job>, SuperviseError> {
    let mut piece = [0; 16 * 1024];
    loop {
        if let Some(job) = decoder.next()? {
            return Ok(Some(job));
        }
        let len = control.read(&mut piece)?;
        if len == 0 {
            return Ok(None);
        }
        decoder.push(piece.get(..len).unwrap_or_default());
    }
}

pub(super) fn tell(control: &mut UnixStream, report: &Report) -> Result<(), SuperviseError> {
    use std::io::Write;
    control.set_nonblocking(false)?;
    control.write_all(&super::encode(report)?)?;
    Ok(())
}
