//! What Redis granted to a submission that may be gone by now.
//!
//! A call to Redis goes on where its client disconnects, or what went with it would be lost. What it admitted then is for nobody.

use super::bucket::TenantBucket;
use super::decision::Decision;
use super::limiter::Limiter;
use std::sync::Arc;

/// A decision that is given back when it is dropped.
pub(super) struct Unclaimed {
    limiter: Arc<Limiter>,
    bucket: Arc<TenantBucket>,
    decision: Decision,
}

impl Unclaimed {
    pub(super) fn new(
        limiter: Arc<Limiter>,
        bucket: Arc<TenantBucket>,
        decision: Decision,
    ) -> Self {
        Self { limiter, bucket, decision }
    }

    /// The submission is there and has it.
    pub(super) fn claim(mut self) -> Decision {
        let decision = self.decision;
        self.decision.admitted = 0;
        decision
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        self.limiter.give_back(&self.bucket, self.decision.admitted);
    }
}
