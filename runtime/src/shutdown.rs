//! The one way a process is asked to stop.
//!
//! `cli` makes one pair from the signals (`signals.rs`); every loop holds a `Shutdown` and ends when it is cancelled.
//! Handles and listeners are separate types, so that a loop cannot stop its process by accident.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

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
