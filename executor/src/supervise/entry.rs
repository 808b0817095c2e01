//! Turns this process into a supervisor when the hidden argument asks for it.
//!
//! `main` calls `maybe_run` before anything else: before tokio starts threads (signals are blocked for
//! the calling thread only) and before arguments are parsed.

use super::control::{Decoder, SuperviseError, send_report};
use super::job::{Job, NotStarted, Order, Report};
use super::oom::OomScore;
use super::watch::{Ears, Watch};
use super::{clock, inside, start};
use crate::arguments::{INSIDE, SUPERVISE, WAIT};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getppid, setpgid};
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Becomes a supervisor, or another of its helpers, and never returns, if the first argument says so; otherwise
/// does nothing.
///
/// Every binary that runs an executor must call this first in `main`.
pub fn maybe_run() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    let mut number = || arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let code = match first.as_ref().and_then(|first| first.to_str()) {
        Some(SUPERVISE) => {
            number().map_or(2, |agent| i32::from(run(Pid::from_raw(agent)).is_err()))
        }
        Some(INSIDE) => match (number(), number()) {
            (Some(job), Some(words)) => i32::from(inside::run(job, words).is_err()),
            _ => 2,
        },
        Some(WAIT) => {
            // Not for it: it ends with its input.
            SigSet::all().thread_block().ok();
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
    let Some(mut job) = read_job(&mut control, &mut decoder)? else { return Ok(()) };
    // On a busy machine this process may come to it long after the job was written.
    let lease_until_ns = last_orders(&mut control, &mut decoder, job.lease_until_ns)?;
    job.lease_until_ns = lease_until_ns.unwrap_or(0);
    if clock::monotonic_ns() >= job.lease_until_ns {
        return send_report(&mut control, &Report::NotStarted(NotStarted::LeaseOver));
    }
    match start::command(&job, &oom) {
        Ok(started) => Watch::new(Ears { agent, control, decoder, signals }, started, &job)?.run(),
        Err(why) => send_report(&mut control, &Report::NotStarted(why)),
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
    // A Ctrl-C for the agent must not reach the command: the agent drains. A group and no session: where the kernel shares
    // processor time among sessions (`sched_autogroup`), each supervisor would weigh as much as the agent with all its threads.
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    SignalFd::with_flags(&all, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Until when the lease lasts by all that the agent has said up to now; none when the command is not to run any more.
fn last_orders(
    control: &mut UnixStream,
    decoder: &mut Decoder,
    lease_until_ns: u64,
) -> Result<Option<u64>, SuperviseError> {
    control.set_nonblocking(true)?;
    let mut piece = [0; 4096];
    loop {
        match control.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(len) => decoder.push(piece.get(..len).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
    }
    let mut until_ns = lease_until_ns;
    while let Some(order) = decoder.next()? {
        match order {
            Order::LeaseUntil(later) => until_ns = until_ns.max(later),
            Order::Stop { .. } | Order::Kill => return Ok(None),
        }
    }
    Ok(Some(until_ns))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::encode;
    use std::io::Write;

    #[test]
    fn a_start_that_comes_late_goes_by_what_was_said_meanwhile() {
        let said = |orders: &[Order]| {
            let (mut agent, mut control) = UnixStream::pair().unwrap();
            let mut decoder = Decoder::default();
            for (at, order) in orders.iter().enumerate() {
                // The first came in one piece with the job.
                let bytes = encode(order).unwrap();
                if at == 0 { decoder.push(&bytes) } else { agent.write_all(&bytes).unwrap() }
            }
            last_orders(&mut control, &mut decoder, 5).unwrap()
        };
        assert_eq!(said(&[]), Some(5));
        assert_eq!(said(&[Order::LeaseUntil(7), Order::LeaseUntil(9)]), Some(9));
        assert_eq!(said(&[Order::LeaseUntil(4)]), Some(5));
        assert_eq!(said(&[Order::LeaseUntil(7), Order::Stop { grace_ms: 1 }]), None);
        assert_eq!(said(&[Order::Kill]), None);
        let (_, mut orphan) = UnixStream::pair().unwrap();
        assert_eq!(last_orders(&mut orphan, &mut Decoder::default(), 5).unwrap(), None);
    }
}
