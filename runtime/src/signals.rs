//! The signals of a process, and what each asks for.
//!
//! Once [`Signals::install`] has returned none of them ends the process by itself. Used by `Shutdown::from_signals` alone.

use std::fs;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for, with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// An end in order: SIGTERM, and SIGHUP of a terminal that closes.
    Stop(&'static str),
    /// The same by a person at the terminal, who may ask for more with a second one.
    Interrupt,
    /// Nothing. Such signals rotate logs or reload elsewhere, and must not kill here.
    Nothing(&'static str),
}

/// Handlers of all signals that mean something, or would kill.
pub(crate) struct Signals {
    term: Signal,
    interrupt: Signal,
    /// None where whoever started us has it ignored, as `nohup` does: a closed terminal is nothing to us then.
    hangup: Option<Signal>,
    first_user: Signal,
    second_user: Signal,
}

impl Signals {
    pub(crate) fn install() -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        Ok(Self {
            hangup: (!is_ignored(hangup)).then(|| signal(hangup)).transpose()?,
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            first_user: signal(SignalKind::user_defined1())?,
            second_user: signal(SignalKind::user_defined2())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Asked {
        let Self { term, interrupt, hangup, first_user, second_user } = self;
        let hangup = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = term.recv() => Asked::Stop("SIGTERM"),
            _ = hangup => Asked::Stop("SIGHUP"),
            _ = interrupt.recv() => Asked::Interrupt,
            _ = first_user.recv() => Asked::Nothing("SIGUSR1"),
            _ = second_user.recv() => Asked::Nothing("SIGUSR2"),
        }
    }
}

/// Whether the process ignores it, by what it was started with. Where the kernel does not say, no.
fn is_ignored(kind: SignalKind) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = 1 << (kind.as_raw_value() - 1);
    ignored.is_some_and(|ignored| ignored & bit != 0)
}
