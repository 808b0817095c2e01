//! The one way a process is told to stop.
//!
//! `cli` makes one pair from the signals; every loop holds a `Shutdown` and ends when it is cancelled.
//! Handles and listeners are separate types, so that a loop cannot stop its process by accident.

use crate::log_queue;
use crate::signals::{Asked, Signals};
use crate::tasks::TaskGroup;
use std::io;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time for the last log lines of a process that ends at once.
const LAST_LINES: Duration = Duration::from_millis(200);

/// Hears that it is time to stop. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shutdown {
    token: CancellationToken,
}

/// Says that it is time to stop. Cheap to clone; dropping it stops nothing.
#[derive(Debug, Clone)]
pub struct ShutdownHandle {
    token: CancellationToken,
}

impl Shutdown {
    /// A pair that only its handle stops.
    #[must_use]
    pub fn new() -> (ShutdownHandle, Self) {
        let token = CancellationToken::new();
        (ShutdownHandle { token: token.clone() }, Self { token })
    }

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

    /// Resolves when it is time to stop; at once if it already is.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Whether it is time to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// A pair for a part of the process: stopped by its own handle, or with this one.
    #[must_use]
    pub fn child(&self) -> (ShutdownHandle, Self) {
        let token = self.token.child_token();
        (ShutdownHandle { token: token.clone() }, Self { token })
    }

    /// Waits `duration`; false when the shutdown came first.
    pub async fn sleep(&self, duration: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.cancelled() => false,
            () = crate::clock::sleep(duration) => true,
        }
    }
}

impl ShutdownHandle {
    /// Tells all listeners and children to stop. Repeating it does nothing.
    pub fn shut_down(&self) {
        self.token.cancel();
    }

    /// A listener of this handle.
    #[must_use]
    pub fn listener(&self) -> Shutdown {
        Shutdown { token: self.token.clone() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_stops_with_its_parent_and_not_the_other_way() {
        let (handle, parent) = Shutdown::new();
        let (first, first_listener) = parent.child();
        let (_second, second_listener) = parent.child();
        first.shut_down();
        assert!(first_listener.is_cancelled() && !parent.is_cancelled());
        handle.shut_down();
        second_listener.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleep_ends_early_on_shutdown() {
        let (handle, shutdown) = Shutdown::new();
        assert!(shutdown.sleep(Duration::from_secs(1)).await);
        handle.shut_down();
        assert!(!shutdown.sleep(Duration::from_secs(3600)).await);
    }
}
