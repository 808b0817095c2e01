//! One connected executor: capacity, leases and stream.
//!
//! Free capacity is capacity less live leases and pending placements. [`Occupancy`] of `domain` keeps the sum, and
//! nothing else changes it.

use super::lease::HeldLease;
use domain::epoch::Epoch;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::placement::{Node, Occupancy};
use domain::quarantine::{Admission, Conduct};
use domain::resources::Resources;
use domain::task::{DriverSet, LeaseKey};
use protocol::{KindsOfRuns, ToExecutor};
use std::collections::HashMap;
use std::time::Duration;
use store::session::SessionOwner;
use tokio::sync::mpsc;

/// The newest stream of an executor.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// Number of the stream.
    pub id: u64,
    /// The executor's session.
    pub session: SessionId,
    pub outbox: mpsc::Sender<ToExecutor>,
}

impl Stream {
    /// Sends without waiting. A full stream counts as broken and is closed; the state is sent again after the executor
    /// reconnects.
    pub(crate) fn send(&self, message: impl Into<ToExecutor>) -> bool {
        self.outbox.try_send(message.into()).is_ok()
    }
}

/// Room that is reserved on an executor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved {
    /// Number of the assignment.
    pub assignment: u64,
    pub port_first: u32,
}

/// One connected executor.
#[derive(Debug)]
pub(crate) struct ExecutorConnection {
    pub stream: Stream,
    pub epoch: Epoch,
    pub executor: ExecutorId,
    pub pool: PoolName,
    pub drivers: DriverSet,
    /// What it reads.
    pub runs: KindsOfRuns,
    pub room: Occupancy,
    pub accepting: bool,
    pub conduct: Conduct,
    pub next_assignment: u64,
    pub leases: HashMap<LeaseKey, HeldLease>,
}

impl ExecutorConnection {
    /// A connection without leases, to an executor of unknown drivers.
    pub(crate) fn empty(
        stream: Stream,
        epoch: Epoch,
        owner: SessionOwner,
        capacity: Resources,
        port_first: u32,
    ) -> Self {
        Self {
            stream,
            epoch,
            executor: owner.executor,
            pool: owner.pool,
            drivers: DriverSet::default(),
            runs: KindsOfRuns::default(),
            room: Occupancy::new(capacity, port_first),
            accepting: true,
            conduct: Conduct::default(),
            next_assignment: 1,
            leases: HashMap::new(),
        }
    }

    /// Resources that it may be given now.
    pub(crate) fn admission(&self, now: Duration) -> Admission {
        if self.accepting { self.conduct.admission(now) } else { Admission::Nothing }
    }

    /// Free room in basic tasks.
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

    /// Adds a lease that is live in the database.
    pub(crate) fn hold(&mut self, key: LeaseKey, lease: HeldLease) {
        self.room.hold(lease.resources, lease.port_first);
        self.next_assignment = self.next_assignment.max(lease.assignment + 1);
        self.leases.insert(key, lease);
    }

    /// Reserves room for a placement; `None` if there is none.
    pub(crate) fn reserve(&mut self, need: Resources, now: Duration) -> Option<Reserved> {
        let port_first = self.room.acquire(need)?;
        self.conduct.given(now);
        let assignment = self.next_assignment;
        self.next_assignment += 1;
        Some(Reserved { assignment, port_first })
    }

    /// Releases room.
    pub(crate) fn give_back(&mut self, resources: Resources, port_first: u32) {
        self.room.release(resources, port_first);
    }
}
