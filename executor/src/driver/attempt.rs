//! What an attempt is given, whichever driver runs it.

use crate::due::Due;
use domain::pool::PoolPolicy;
use domain::task::LeaseKey;
use protocol::Capacity;
use runtime::clock::Instant;
use std::time::Duration;

/// An attempt to be started.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) lease: LeaseKey,
    pub(crate) traceparent: String,
    pub(crate) due: Due,
    pub(crate) resources: Capacity,
    /// What its pool allows.
    pub(crate) policy: PoolPolicy,
    pub(crate) received: Instant,
    /// Counted from its receipt.
    pub(crate) cap: Duration,
    /// Time between the polite and the hard kill.
    pub(crate) kill_grace: Duration,
}
