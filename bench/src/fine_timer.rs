//! A timer with a resolution of microseconds, to send requests on time.
//!
//! The timers of `runtime::clock` end up to two milliseconds late. Where the system has no timerfd this one does as well.

use runtime::clock::{self, Instant};

/// One timer.
#[derive(Debug)]
pub struct FineTimer {
    #[cfg(target_os = "linux")]
    timer: Option<linux::Timer>,
}

impl FineTimer {
    /// To be called within a tokio runtime.
    #[must_use]
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            timer: linux::Timer::new().ok(),
        }
    }

    /// Waits until `deadline`; returns at once when it has passed. Cancel-safe.
    pub async fn until(&self, deadline: Instant) {
        #[cfg(target_os = "linux")]
        if let Some(timer) = &self.timer
            && timer.until(deadline).await.is_ok()
        {
            return;
        }
        clock::sleep_until(deadline).await;
    }
}

impl Default for FineTimer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Instant, clock};
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, RawFd};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    #[derive(Debug)]
    struct Descriptor(TimerFd);

    impl AsRawFd for Descriptor {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    /// See `timerfd_create(2)`.
    #[derive(Debug)]
    pub(super) struct Timer(AsyncFd<Descriptor>);

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            // SAFETY: the descriptor is open, lives in the `AsyncFd` until that is dropped, and is never another.
            #[expect(
                unsafe_code,
                reason = "tokio has no safe way to wait for a descriptor of another kind than its own"
            )]
            let registered =
                unsafe { AsyncFd::register_with_interest(Descriptor(timer), Interest::READABLE) };
            Ok(Self(registered?))
        }

        pub(super) async fn until(&self, deadline: Instant) -> io::Result<()> {
            let left = deadline.saturating_duration_since(clock::monotonic());
            // A timer set to nothing would never end.
            if left.is_zero() {
                return Ok(());
            }
            // What it was set to before, and nobody has waited for to the end, is forgotten with this.
            let expiration = Expiration::OneShot(TimeSpec::from_duration(left));
            self.0.get_ref().0.set(expiration, TimerSetTimeFlags::empty())?;
            self.0.async_io(Interest::READABLE, |timer| Ok(timer.0.wait()?)).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn it_never_ends_before_its_time() {
        let timer = FineTimer::new();
        for micros in [100, 300, 0, 700, 1500, 50] {
            for _ in 0..20 {
                let deadline = clock::monotonic() + Duration::from_micros(micros);
                timer.until(deadline).await;
                let now = clock::monotonic();
                assert!(now >= deadline, "early by {:?}", deadline - now);
            }
        }
    }

    #[tokio::test]
    async fn a_wait_that_was_given_up_does_not_end_the_next() {
        let timer = FineTimer::new();
        // Where this thread had to rest for so long, it came to its end.
        let soon = loop {
            let soon = clock::monotonic() + Duration::from_millis(2);
            if clock::timeout(Duration::ZERO, timer.until(soon)).await.is_err() {
                break soon;
            }
        };
        clock::sleep_until(soon + Duration::from_millis(2)).await;
        let deadline = clock::monotonic() + Duration::from_millis(20);
        timer.until(deadline).await;
        assert!(clock::monotonic() >= deadline);
    }
}
