//! One connected executor: its capacity, its leases, and the way to it.
//!
//! Free capacity is capacity less the live leases and the placements on their way to the database: `domain`'s
//! [`Occupancy`] keeps their sum, and nothing else ever changes it.

use super::lease::{HeldKey, HeldLease};
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::placement::{Node, Occupancy};
use domain::quarantine::{Admission, Conduct};
use domain::resources::Resources;
use protocol::ToExecutor;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::mpsc;

/// The way to one executor: its newest stream.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// Which stream, as they follow one another.
    pub id: u64,
    /// The executor's session.
    pub session: SessionId,
    pub outbox: mpsc::Sender<ToExecutor>,
}

impl Stream {
    /// Sends without waiting. A stream that cannot take more is as good as broken: it is closed, and what
    /// was not said is said again after the executor has connected anew.
    pub(crate) fn send(&self, message: impl Into<ToExecutor>) -> bool {
        self.outbox.try_send(message.into()).is_ok()
    }
}

/// One connected executor.
#[derive(Debug)]
pub(crate) struct Seat {
    pub stream: Stream,
    pub epoch: i64,
    pub executor: ExecutorId,
    pub pool: PoolName,
    pub room: Occupancy,
    pub accepting: bool,
    pub conduct: Conduct,
    pub next_assignment: u64,
    pub leases: HashMap<HeldKey, HeldLease>,
}

impl Seat {
    /// A seat with nothing on it.
    pub(crate) fn empty(
        stream: Stream,
        epoch: i64,
        executor: ExecutorId,
        pool: PoolName,
        offer: (Resources, u32),
    ) -> Self {
        let (capacity, port_first) = offer;
        Self {
            stream,
            epoch,
            executor,
            pool,
            room: Occupancy::new(capacity, port_first),
            accepting: true,
            conduct: Conduct::default(),
            next_assignment: 1,
            leases: HashMap::new(),
        }
    }

    /// What it may be given now.
    pub(crate) fn admission(&self, now: Duration) -> Admission {
        if self.accepting { self.conduct.admission(now) } else { Admission::Nothing }
    }

    /// Room for basic tasks that it may be given now, counted over what it has.
    pub(crate) fn slots(&self, now: Duration) -> u32 {
        let free = self.room.free().free_slots(self.room.capacity());
        match self.admission(now) {
            Admission::All => free,
            Admission::Probe => free.min(1),
            Admission::Nothing => 0,
        }
    }

    pub(crate) fn node(&self, now: Duration) -> Node {
        Node {
            capacity: self.room.capacity(),
            free: self.room.free(),
            port_block: self.room.port_block(),
            accepting: self.admission(now) != Admission::Nothing,
        }
    }

    /// Puts a lease on it that the database says is live.
    pub(crate) fn hold(&mut self, key: HeldKey, lease: HeldLease) {
        self.room.hold(lease.resources, lease.port_first);
        self.next_assignment = self.next_assignment.max(lease.assignment + 1);
        self.leases.insert(key, lease);
    }

    /// Takes room for a placement; `None` where there is none after all.
    pub(crate) fn reserve(&mut self, need: Resources, now: Duration) -> Option<(u64, u32)> {
        let port_first = self.room.take(need)?;
        self.conduct.given(now);
        let assignment = self.next_assignment;
        self.next_assignment += 1;
        Some((assignment, port_first))
    }

    /// Gives room back.
    pub(crate) fn give_back(&mut self, resources: Resources, port_first: u32) {
        self.room.release(resources, port_first);
    }
}
