//! The signals of a process, what each asks for, and the shutdown that they start.
//!
//! Once [`Signals::install`] has returned none of them ends the process by itself. Used through `Shutdown::from_signals`.

use crate::log_queue;
use crate::shutdown::{Shutdown, ShutdownHandle};
use crate::tasks::TaskGroup;
use std::fs;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Time for the last log lines of a process that ends at once.
const LAST_LINES: Duration = Duration::from_millis(200);

impl Shutdown {
    /// A pair that SIGTERM, SIGHUP or SIGINT stops too. A second SIGINT (ctrl-C) ends the process at once:
    /// any Berth process may die at any time, and a person who presses twice means it. SIGHUP is ignored where it was ignored
    /// before (`nohup`), SIGUSR1 and SIGUSR2 always are.
    ///
    /// # Errors
    /// When the signal handlers cannot be installed.
    pub fn from_signals(tasks: &TaskGroup) -> io::Result<(ShutdownHandle, Self)> {
        let (handle, shutdown) = Self::new();
        tasks.spawn_detached("signals", listen(handle.clone(), Signals::install()?));
        Ok((handle, shutdown))
    }
}

async fn listen(handle: ShutdownHandle, mut signals: Signals) {
    let mut is_stopping = false;
    loop {
        match signals.next().await {
            Asked::Interrupt if is_stopping => {
                tracing::warn!(signal = "SIGINT", "Ending at once on a further SIGINT");
                log_queue::flush(LAST_LINES);
                std::process::exit(130);
            }
            Asked::Interrupt => {
                tracing::info!(signal = "SIGINT", "Stopping on SIGINT; again to end at once");
                is_stopping = true;
            }
            Asked::Stop(signal) if !is_stopping => {
                tracing::info!(signal, "Stopping on {signal}");
                is_stopping = true;
            }
            Asked::Stop(signal) | Asked::Nothing(signal) => {
                tracing::debug!(signal, "Ignoring {signal}");
            }
        }
        if is_stopping {
            handle.shut_down();
        }
    }
}

/// What a signal asks for, with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// An end in order: SIGTERM, and SIGHUP of a terminal that closes.
    Stop(&'static str),
    /// The same by a person at the terminal, who may ask for more with a second one.
    Interrupt,
    /// Nothing. Such signals rotate logs or reload elsewhere, and must not kill here.
    Nothing(&'static str),
}

/// Handlers of all signals that mean something, or would kill.
struct Signals {
    term: Signal,
    interrupt: Signal,
    /// None where whoever started us has it ignored, as `nohup` does: a closed terminal is nothing to us then.
    hangup: Option<Signal>,
    first_user: Signal,
    second_user: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
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
    async fn next(&mut self) -> Asked {
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
