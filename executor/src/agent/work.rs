//! Attempts that run now, and what it takes to run them.

use super::sleepers::Sleepers;
use crate::driver::{Ending, Services, Stop, Why};
use crate::drivers::Drivers;
use crate::metrics::RUNNING;
use crate::output::AttemptOutput;
use crate::supervise::until_ns;
use domain::task::LeaseKey;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::sync::Arc;

/// One attempt that runs.
#[derive(Debug)]
pub(super) struct Running {
    /// From when it is billed: its arrival, until its driver knows better.
    pub(super) billed_from: Instant,
    /// Why we asked it to end, if we did.
    pub(super) why: Option<Why>,
    pub(super) control: Control,
}

/// What ends it.
#[derive(Debug)]
pub(super) enum Control {
    /// Nothing but the time, or our word.
    Timer { then: Ending },
    /// Its driver.
    Driver { stop: Box<dyn Stop>, output: Arc<AttemptOutput> },
}

pub(super) struct Work {
    pub(super) running: HashMap<LeaseKey, Running>,
    pub(super) sleepers: Sleepers,
    pub(super) drivers: Drivers,
    pub(super) services: Services,
}

impl Work {
    pub(super) fn leases(&self) -> impl Iterator<Item = LeaseKey> {
        self.running.keys().copied()
    }

    pub(super) fn add(&mut self, lease: LeaseKey, running: Running) {
        self.running.insert(lease, running);
        self.count();
    }

    pub(super) fn remove(&mut self, lease: &LeaseKey) -> Option<Running> {
        let removed = self.running.remove(lease);
        self.count();
        removed
    }

    /// Tells every attempt until when it may go on.
    pub(super) fn lease_lasts(&self, until: Instant) {
        let until = until_ns(until);
        let lease_until = &self.services.lease_until;
        lease_until.send_if_modified(|present| std::mem::replace(present, until) != until);
    }

    fn count(&self) {
        #[expect(clippy::cast_precision_loss, reason = "a count of attempts is far below 2^52")]
        RUNNING.with(&[]).set(self.running.len() as f64);
    }
}
