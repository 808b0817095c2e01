//! An executor as the fleet knows it: a connection, and the messages that were sent over it.

use super::World;
use crate::fleet::{ExecutorConnection, Fleet, Stream};
use domain::epoch::Epoch;
use domain::id::{ExecutorId, PoolName, SessionId, TaskId};
use domain::resources::Resources;
use domain::task::DriverSet;
use protocol::ToExecutor;
use protocol::result_answer::Verdict;
use protocol::to_executor::Message;
use std::sync::atomic::{AtomicU64, Ordering};
use store::session::SessionOwner;
use tokio::sync::mpsc;

/// Messages that fit into an outbox.
const OUTBOX: usize = 64;

/// Makes `stream` the way to an executor without leases, owned under `epoch`.
pub(crate) fn connect(
    fleet: &Fleet,
    stream: &Stream,
    epoch: Epoch,
    owner: SessionOwner,
    capacity: Resources,
) {
    connect_with(fleet, stream, epoch, owner, (capacity, DriverSet::default()));
}

fn connect_with(
    fleet: &Fleet,
    stream: &Stream,
    epoch: Epoch,
    owner: SessionOwner,
    (capacity, drivers): (Resources, DriverSet),
) {
    let mut connection = ExecutorConnection::empty(stream.clone(), epoch, owner, capacity, 20_000);
    connection.drivers = drivers;
    fleet.connect(connection, false);
}

/// The executor of `stream` leaves; true where that was its newest.
pub(crate) fn disconnect(fleet: &Fleet, stream: &Stream) -> bool {
    fleet.disconnect(stream).is_some()
}

pub(crate) struct FakeExecutor {
    pub stream: Stream,
    pub executor: ExecutorId,
    pub pool: PoolName,
    inbox: mpsc::Receiver<ToExecutor>,
}

impl FakeExecutor {
    /// Connects one of pool `default` with a new session.
    pub(crate) fn connect(world: &World, name: &str, capacity: Resources) -> Self {
        Self::with_outbox(world, name, capacity, OUTBOX)
    }

    /// The same with these drivers and no others.
    pub(crate) fn with_drivers(
        world: &World,
        name: &str,
        capacity: Resources,
        drivers: &[&str],
    ) -> Self {
        let drivers = DriverSet::of(drivers.iter().map(|name| name.parse().unwrap()));
        Self::with(world, name, (capacity, drivers), OUTBOX)
    }

    /// The same with room for so many messages that it does not read.
    pub(crate) fn with_outbox(
        world: &World,
        name: &str,
        capacity: Resources,
        outbox: usize,
    ) -> Self {
        Self::with(world, name, (capacity, DriverSet::default()), outbox)
    }

    fn with(world: &World, name: &str, offer: (Resources, DriverSet), outbox: usize) -> Self {
        static STREAMS: AtomicU64 = AtomicU64::new(1);
        let (outbox, inbox) = mpsc::channel(outbox);
        let id = STREAMS.fetch_add(1, Ordering::Relaxed);
        let stream = Stream { id, session: SessionId::fresh(), outbox };
        let (executor, pool) = (name.parse().unwrap(), "default".parse().unwrap());
        let connected = Self { stream, executor, pool, inbox };
        world.store.open(connected.stream.session, Epoch(1), connected.identity());
        connect_with(&world.fleet, &connected.stream, Epoch(1), connected.identity(), offer);
        connected
    }

    /// Its name and its pool.
    pub(crate) fn identity(&self) -> SessionOwner {
        SessionOwner { executor: self.executor.clone(), pool: self.pool.clone() }
    }

    /// The next message that was sent.
    pub(crate) fn message(&mut self) -> Option<Message> {
        self.inbox.try_recv().ok()?.message
    }

    /// Tasks assigned since the last call, in their order.
    pub(crate) fn assigned(&mut self) -> Vec<TaskId> {
        let mut tasks = Vec::new();
        while let Some(message) = self.message() {
            let Message::Assignments(sent) = message else { panic!("{message:?}") };
            for assignment in sent.assignments {
                tasks.push(assignment.lease.unwrap().key(self.stream.session).unwrap().task);
            }
        }
        tasks
    }

    /// Verdicts on results since the last call, each message's in one list.
    pub(crate) fn verdicts(&mut self) -> Vec<Vec<(TaskId, Verdict)>> {
        let (session, mut messages) = (self.stream.session, Vec::new());
        while let Some(message) = self.message() {
            let Message::Results(sent) = message else { continue };
            let verdict = |answer: protocol::ResultAnswer| {
                let task = answer.lease.as_ref().unwrap().key(session).unwrap().task;
                (task, answer.verdict())
            };
            messages.push(sent.answers.into_iter().map(verdict).collect());
        }
        messages
    }
}
