//! When the log is to say that Redis does not serve: soon, also where it never did, and now and then again.
//!
//! Asked after each call that failed, which is five times a second while Redis is away.

use super::shared::Cause;
use runtime::clock::Instant;
use std::time::Duration;

/// A Redis that starts with us, or again, may take so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two lines about different causes.
const OTHER: Duration = Duration::from_secs(30);
/// Between two lines about the same.
const AGAIN: Duration = Duration::from_secs(600);

/// What has been said of an outage.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    since: Option<Instant>,
    said: Option<(Instant, Cause)>,
}

impl Trouble {
    /// A call failed. True where that is to be said: at once where Redis has served until now.
    pub(super) fn failed(&mut self, cause: Cause, has_served: bool, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let is_due = match self.said {
            None => has_served || now.duration_since(since) >= PATIENCE,
            Some((at, before)) => {
                now.duration_since(at) >= if before == cause { AGAIN } else { OTHER }
            }
        };
        if is_due {
            self.said = Some((now, cause));
        }
        is_due
    }

    /// Redis serves.
    pub(super) fn is_over(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock::monotonic;

    #[test]
    fn one_that_never_served_is_told_of_within_seconds_and_seldom_again() {
        let (mut trouble, start) = (Trouble::default(), monotonic());
        let mut said = Vec::new();
        // An hour of failed probes; for some minutes of it the cause is another.
        for tick in 0..18_000_u64 {
            let after = Duration::from_millis(200 * tick);
            let other = (600..900).contains(&after.as_secs());
            let cause = if other { Cause::Connection } else { Cause::Password };
            if trouble.failed(cause, false, start + after) {
                said.push(after.as_secs());
            }
        }
        assert_eq!(said, [2, 600, 900, 1500, 2100, 2700, 3300]);
    }

    #[test]
    fn one_that_served_is_told_of_at_once_and_each_outage_anew() {
        let (mut trouble, now) = (Trouble::default(), monotonic());
        assert!(trouble.failed(Cause::Late, true, now));
        assert!(!trouble.failed(Cause::Late, false, now + PATIENCE));
        trouble.is_over();
        assert!(trouble.failed(Cause::Late, true, now + PATIENCE));
    }
}
