//! Who was refused a moment ago: so that somebody who goes on all the same costs neither the database nor a turn to hash.
//!
//! Only for a moment, because a try that is taken back makes room before the time that was told. Bounded: where there are too many
//! all are forgotten, and Postgres is asked again.

use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::time::Duration;

/// How long a refusal is remembered.
const MOMENT: Duration = Duration::from_secs(1);
/// Refusals remembered at once.
const CAPACITY: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Refusal {
    forgotten: Instant,
    /// What was told.
    until: Instant,
}

/// The refusals of the last moment.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<HashMap<[u8; 32], Refusal>>);

impl Refused {
    /// `subject` was told to wait for `wait`.
    pub(crate) fn remember(&self, subject: [u8; 32], wait: Duration) {
        let now = monotonic();
        let mut all = self.0.lock();
        if all.len() >= CAPACITY {
            all.clear();
        }
        let refusal = Refusal { forgotten: now + wait.min(MOMENT), until: now + wait };
        all.insert(subject, refusal);
    }

    /// How long `subject` is still to wait, where it was refused a moment ago.
    pub(crate) fn wait(&self, subject: &[u8; 32]) -> Option<Duration> {
        let now = monotonic();
        let mut all = self.0.lock();
        let refusal = *all.get(subject)?;
        if refusal.forgotten > now {
            return Some(refusal.until - now);
        }
        all.remove(subject);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_remembered_with_what_was_told_and_there_are_never_too_many() {
        let refused = Refused::default();
        refused.remember([1; 32], Duration::from_secs(900));
        let wait = refused.wait(&[1; 32]).unwrap();
        assert!(wait > Duration::from_secs(890) && wait <= Duration::from_secs(900), "{wait:?}");
        refused.remember([2; 32], Duration::ZERO);
        assert_eq!((refused.wait(&[2; 32]), refused.wait(&[3; 32])), (None, None));
        for n in 0..2 * CAPACITY as u64 {
            let mut subject = [0; 32];
            subject[..8].copy_from_slice(&n.to_be_bytes());
            refused.remember(subject, Duration::from_secs(900));
        }
        assert!(refused.0.lock().len() <= CAPACITY);
    }
}
