//! Whether this process counts in Redis or enforces its share, and when the log reports an outage.
//!
//! Changed by failed calls and by the periodic call to Redis; read by every submission.

use parking_lot::Mutex;
use runtime::clock::Instant;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// An outage is reported once it is this old: a Redis that starts or restarts may need this long.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// While it lasts, it is reported again after this.
const REPORT_AGAIN: Duration = Duration::from_secs(300);

/// How this process counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// No Redis is configured: each of `replicas` api processes enforces its share, which is the whole where it is the only one.
    Alone { replicas: u32 },
    /// Tokens are leased from Redis.
    Shared,
    /// Redis is away: each of `replicas` api processes enforces its share.
    Fallback { replicas: u32 },
}

impl Mode {
    /// By how many processes the limit is divided.
    pub(super) fn divisor(self) -> u32 {
        match self {
            Self::Alone { replicas } | Self::Fallback { replicas } => replicas.max(1),
            Self::Shared => 1,
        }
    }

    /// Whether answers say `berth-local`.
    pub(super) fn is_local(self) -> bool {
        match self {
            Self::Alone { replicas } => replicas > 1,
            Self::Shared => false,
            Self::Fallback { .. } => true,
        }
    }
}

#[derive(Debug)]
struct Outage {
    since: Instant,
    report_at: Instant,
}

impl Outage {
    fn new(now: Instant) -> Self {
        Self { since: now, report_at: now + REPORT_AFTER }
    }
}

/// The present mode.
#[derive(Debug)]
pub(super) struct ModeSwitch {
    has_redis: bool,
    /// Changes with `outage`, under its lock; read without it.
    is_shared: AtomicBool,
    replicas: AtomicU32,
    outage: Mutex<Option<Outage>>,
}

impl ModeSwitch {
    /// A configured Redis is away until it has answered.
    pub(super) fn new(has_redis: bool, now: Instant) -> Self {
        let outage = Mutex::new(Some(Outage::new(now)));
        Self { has_redis, is_shared: AtomicBool::new(false), replicas: AtomicU32::new(1), outage }
    }

    pub(super) fn mode(&self) -> Mode {
        let replicas = self.replicas();
        match (self.has_redis, self.is_shared.load(Ordering::Acquire)) {
            (false, _) => Mode::Alone { replicas },
            (true, true) => Mode::Shared,
            (true, false) => Mode::Fallback { replicas },
        }
    }

    /// The mode after a failed call, even if Redis serves again by now.
    pub(super) fn fallback(&self) -> Mode {
        Mode::Fallback { replicas: self.replicas() }
    }

    fn replicas(&self) -> u32 {
        self.replicas.load(Ordering::Relaxed)
    }

    pub(super) fn set_replicas(&self, replicas: u32) {
        self.replicas.store(replicas, Ordering::Relaxed);
    }

    /// For how long Redis has been away.
    pub(super) fn away_for(&self, now: Instant) -> Duration {
        self.outage.lock().as_ref().map_or(Duration::ZERO, |outage| now - outage.since)
    }

    /// A call failed; true where the log is to say so.
    pub(super) fn failed(&self, now: Instant) -> bool {
        let mut outage = self.outage.lock();
        self.is_shared.store(false, Ordering::Release);
        let outage = outage.get_or_insert_with(|| Outage::new(now));
        let is_due = now >= outage.report_at;
        if is_due {
            outage.report_at = now + REPORT_AGAIN;
        }
        is_due
    }

    /// Redis is well, but buckets do not count yet. Not an outage for the log: it lasts half a second.
    pub(super) fn must_wait(&self, now: Instant) {
        let mut outage = self.outage.lock();
        self.is_shared.store(false, Ordering::Release);
        outage.get_or_insert_with(|| Outage::new(now));
    }

    /// Redis serves; true where it did not before.
    pub(super) fn serves(&self) -> bool {
        let mut outage = self.outage.lock();
        self.is_shared.store(true, Ordering::Release);
        outage.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock::monotonic;

    #[test]
    fn an_outage_divides_the_limit_until_redis_serves() {
        let switch = ModeSwitch::new(true, monotonic());
        switch.set_replicas(3);
        assert_eq!(switch.mode(), Mode::Fallback { replicas: 3 }, "until it has answered");
        assert!(switch.serves() && !switch.serves(), "true once");
        assert_eq!(switch.mode(), Mode::Shared);
        switch.failed(monotonic());
        assert_eq!(switch.mode(), Mode::Fallback { replicas: 3 });
        switch.serves();
        switch.must_wait(monotonic());
        assert_eq!(switch.mode(), Mode::Fallback { replicas: 3 }, "until buckets count");
        assert!(switch.serves(), "and then it is reported");
        let alone = ModeSwitch::new(false, monotonic());
        assert!(alone.mode() == Mode::Alone { replicas: 1 } && !alone.mode().is_local());
        alone.set_replicas(2);
        assert!(alone.mode().is_local() && alone.mode().divisor() == 2);
    }

    #[test]
    fn an_outage_is_reported_within_seconds_and_rarely_repeated() {
        let start = monotonic();
        let (switch, mut reported) = (ModeSwitch::new(true, start), Vec::new());
        for tick in 0..5000_u64 {
            let after = Duration::from_millis(200 * tick);
            if switch.failed(start + after) {
                reported.push(after.as_secs());
            }
        }
        assert_eq!(reported, [1, 301, 601, 901]);
        switch.serves();
        assert!(!switch.failed(start) && switch.failed(start + REPORT_AFTER), "each outage");
    }
}
