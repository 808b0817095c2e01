//! All connected executors behind one lock, held for microseconds and never over an await.

use super::executor_connection::{ExecutorConnection, Reserved, Stream};
use super::lease::{HeldLease, origin_of};
use crate::metrics::{EXECUTORS, LEASES, QUARANTINES};
use bus::Hint;
use domain::epoch::Epoch;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::placement::{Lacks, Node, choose};
use domain::quarantine::{Conduct, Ending, QuarantineRule};
use domain::resources::Resources;
use domain::task::{DriverName, DriverSet, LeaseKey};
use parking_lot::Mutex;
use protocol::{Assignment, Assignments, Capacity, KindsOfRuns, MAX_MESSAGE_BYTES, assignment};
use runtime::clock::{self, Instant};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter;
use std::sync::Arc;
use std::time::Duration;
use store::load::PoolReport;
use store::task::transition::{Claim, Placed, SessionEpoch};
use tokio::sync::Notify;
use tracing::warn;

/// A hint that was given room in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    /// Of its hint, among those that were to be placed.
    pub index: usize,
    pub hint: Hint,
    pub session: SessionId,
    pub epoch: Epoch,
    pub assignment: u64,
    pub port_first: u32,
}

/// A placement and the lease that its claim was granted.
pub(crate) struct Grant {
    pub placement: Placement,
    pub placed: Placed,
}

/// What was not sent of grants.
pub(crate) struct Unsent {
    /// Streams whose send failed.
    pub broken: Vec<Stream>,
    /// Leases whose executor has left.
    pub leases: Vec<LeaseKey>,
}

/// A lease that left memory.
#[derive(Debug, Clone)]
pub(crate) struct Released {
    pub key: LeaseKey,
    pub lease: HeldLease,
}

/// Maximum of disconnected executors whose conduct is remembered.
const MOST_CONDUCTS: usize = 10_000;

#[derive(Default)]
struct Inner {
    connections: BTreeMap<SessionId, ExecutorConnection>,
    /// Conduct of executors that left while it was not clean: a new session does not reset it.
    conducts: HashMap<ExecutorId, Conduct>,
    /// When a task of the pool was last placed here.
    placed: HashMap<PoolName, Instant>,
    completed: HashMap<PoolName, u64>,
    /// Per pool, sizes that found no room, until they fit.
    lacks: HashMap<PoolName, Lacks>,
    room: HashMap<PoolName, Arc<Notify>>,
}

/// The connected executors.
#[derive(Clone)]
pub(crate) struct Fleet {
    inner: Arc<Mutex<Inner>>,
    rule: QuarantineRule,
    began: Instant,
    /// Something changed that must be reported to the batcher.
    changed: Arc<Notify>,
}

impl Placement {
    pub(crate) fn claim(&self) -> Claim {
        Claim {
            dispatch: self.hint.dispatch,
            session: self.session,
            assignment: self.assignment,
            port_first: self.port_first,
        }
    }
}

impl Fleet {
    pub(crate) fn new(rule: QuarantineRule) -> Self {
        Self { inner: Arc::default(), rule, began: clock::monotonic(), changed: Arc::default() }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Fires when capacity or leases changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Fires when room may have appeared in `pool`.
    pub(crate) fn room(&self, pool: &PoolName) -> Arc<Notify> {
        Arc::clone(self.inner.lock().room.entry(pool.clone()).or_default())
    }

    /// Adds a connection. It replaces an older one of the same session; one of an earlier session gets no more work.
    /// `came_back`: the executor no longer has something it was given.
    pub(crate) fn connect(&self, mut connection: ExecutorConnection, came_back: bool) {
        let pool = connection.pool.clone();
        let mut inner = self.inner.lock();
        let mut conduct = inner.conducts.remove(&connection.executor);
        for (session, other) in &mut inner.connections {
            if other.executor == connection.executor {
                conduct = Some(other.conduct);
                other.accepting &= *session == connection.stream.session;
            }
        }
        if let Some(mut conduct) = conduct {
            // The result of an earlier probe does not count: it was of another stream.
            conduct.not_given(self.now());
            connection.conduct = conduct;
        }
        // Counts once: work in flight when a stream broke is not the executor's fault.
        if came_back
            && let Some(lasts) = connection.conduct.ended(&self.rule, Ending::CameBack, self.now())
        {
            log_quarantine(&connection, lasts);
        }
        inner.connections.insert(connection.stream.session, connection);
        EXECUTORS.set(inner.connections.len() as f64);
        drop(inner);
        self.notify_room(&pool);
    }

    /// Removes the connection of `stream`; that of a newer stream stays. The leases stay in the database.
    pub(crate) fn disconnect(&self, stream: &Stream) -> Option<ExecutorConnection> {
        let mut inner = self.inner.lock();
        let ours = inner
            .connections
            .get(&stream.session)
            .is_some_and(|connection| connection.stream.id == stream.id);
        let connection = if ours { inner.remove(stream.session) } else { None };
        EXECUTORS.set(inner.connections.len() as f64);
        drop(inner);
        self.changed.notify_one();
        connection
    }

    /// Whether `stream` is the newest of its executor.
    pub(crate) fn knows(&self, stream: &Stream) -> bool {
        self.inner
            .lock()
            .connections
            .get(&stream.session)
            .is_some_and(|connection| connection.stream.id == stream.id)
    }

    /// Removes the connection of `session`.
    pub(crate) fn remove(&self, session: SessionId) -> Option<ExecutorConnection> {
        let connection = self.inner.lock().remove(session);
        self.changed.notify_one();
        connection
    }

    /// Every connected session with its epoch.
    pub(crate) fn sessions(&self) -> Vec<SessionEpoch> {
        let inner = self.inner.lock();
        inner
            .connections
            .iter()
            .map(|(session, connection)| SessionEpoch {
                session: *session,
                epoch: connection.epoch,
            })
            .collect()
    }

    /// Connected sessions that hold leases.
    pub(crate) fn busy(&self) -> Vec<SessionId> {
        let inner = self.inner.lock();
        let busy = inner.connections.iter().filter(|(_, connection)| !connection.leases.is_empty());
        busy.map(|(session, _)| *session).collect()
    }

    /// Every stream.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        self.inner.lock().connections.values().map(|connection| connection.stream.clone()).collect()
    }

    /// The stream of `session`.
    pub(crate) fn stream(&self, session: SessionId) -> Option<Stream> {
        self.inner.lock().connections.get(&session).map(|connection| connection.stream.clone())
    }

    /// Stops placements on `session`, which drains.
    pub(crate) fn drain(&self, session: SessionId) {
        if let Some(connection) = self.inner.lock().connections.get_mut(&session) {
            connection.accepting = false;
        }
        self.changed.notify_one();
    }

    /// Whether an executor of `pool` has room for a task: a basic one, or one that needs none of an exhausted resource.
    pub(crate) fn has_room(&self, pool: &PoolName) -> bool {
        let (inner, now) = (self.inner.lock(), self.now());
        inner
            .connections
            .values()
            .any(|connection| connection.pool == *pool && connection.slots(now) > 0)
    }

    /// Quarantined sessions, which get at most a probe.
    pub(crate) fn quarantined(&self) -> HashSet<SessionId> {
        let inner = self.inner.lock();
        let held =
            inner.connections.iter().filter(|(_, connection)| connection.conduct.is_quarantined());
        held.map(|(session, _)| *session).collect()
    }

    /// Reserves room for `hints` that fit, largest first.
    pub(crate) fn place(&self, pool: &PoolName, hints: &[Hint]) -> Vec<Placement> {
        let (mut inner, now) = (self.inner.lock(), self.now());
        let (sessions, mut nodes, drivers) = inner.nodes(pool, now);
        let mut order: Vec<usize> = (0..hints.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(hints[*at].resources.slots()));
        let mut placed = Vec::new();
        let mut too_large: Option<(Option<DriverName>, Resources)> = None;
        for index in order {
            let hint = hints[index];
            let (driver, need) = (hint.driver, hint.resources);
            // A size that did not fit is not tried again: a full pool costs one check per size.
            if too_large == Some((driver, need)) {
                continue;
            }
            let Some(node) = choose(need, &nodes, |at| drivers[at].offers(driver)) else {
                too_large = Some((driver, need));
                continue;
            };
            let session = sessions[node];
            let Some(connection) = inner.connections.get_mut(&session) else { continue };
            let Some(Reserved { assignment, port_first }) = connection.reserve(need, now) else {
                continue;
            };
            nodes[node] = connection.node(now);
            let epoch = connection.epoch;
            placed.push(Placement { index, hint, session, epoch, assignment, port_first });
        }
        placed
    }

    /// Records that a task has no room: no tasks of its size are consumed until one fits. Where another driver has room
    /// for that size, it is only tasks of its own driver.
    pub(crate) fn lacks(&self, pool: &PoolName, hint: &Hint) {
        let (mut inner, now, size) = (self.inner.lock(), self.now(), hint.resources);
        if !inner.lacks.get(pool).is_some_and(|known| known.covers(hint.driver, size)) {
            let (_, nodes, _) = inner.nodes(pool, now);
            let driver = hint.driver.filter(|_| choose(size, &nodes, |_| true).is_some());
            inner.lacks.entry(pool.clone()).or_default().add(driver, size);
            drop(inner);
            self.changed.notify_one();
        }
    }

    /// Whether a task like this found no room and still does not fit: holding another is useless.
    pub(crate) fn is_lacking(&self, pool: &PoolName, hint: &Hint) -> bool {
        let inner = self.inner.lock();
        inner.lacks.get(pool).is_some_and(|known| known.covers(hint.driver, hint.resources))
    }

    /// Whether the pool has executors but none has its driver and would have room for it even if idle, so that waiting is
    /// useless. False when the list of lacking sizes is full: then a forgotten size would come again at once.
    pub(crate) fn can_never_hold(&self, pool: &PoolName, hint: &Hint) -> bool {
        let inner = self.inner.lock();
        if inner.lacks.get(pool).is_some_and(|known| known.is_full(hint.driver)) {
            return false;
        }
        let mut connections = inner
            .connections
            .values()
            .filter(|connection| connection.accepting && connection.pool == *pool)
            .peekable();
        connections.peek().is_some()
            && connections.all(|connection| {
                !connection.drivers.offers(hint.driver)
                    || !hint.resources.fits_in(connection.room.capacity())
            })
    }

    /// Whether executors of other drivers would have room for a task like this, and none of its own has: held, it would count against the
    /// room of tasks that could run.
    pub(crate) fn only_other_drivers_have_room(&self, pool: &PoolName, hint: &Hint) -> bool {
        let (inner, now) = (self.inner.lock(), self.now());
        let mut of_pool = inner.connections.values().filter(|connection| connection.pool == *pool);
        if of_pool.all(|connection| connection.drivers.offers(hint.driver)) {
            return false;
        }
        let (_, nodes, drivers) = inner.nodes(pool, now);
        let has_room = |own| {
            choose(hint.resources, &nodes, |at| drivers[at].offers(hint.driver) == own).is_some()
        };
        !has_room(true) && has_room(false)
    }

    /// Releases the room of placements that were not granted.
    pub(crate) fn give_back(&self, placements: &[Placement]) {
        let (mut inner, now) = (self.inner.lock(), self.now());
        for placement in placements {
            // Another epoch is another connection, built from the live leases, without this placement.
            if let Some(connection) = inner
                .connections
                .get_mut(&placement.session)
                .filter(|connection| connection.epoch == placement.epoch)
            {
                connection.give_back(placement.hint.resources, placement.port_first);
                connection.conduct.not_given(now);
            }
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Adds granted leases and sends them to the executors, in the order of assignment numbers. Returns what was not sent.
    pub(crate) fn assign(&self, mut grants: Vec<Grant>) -> Unsent {
        grants.sort_by_key(|grant| (grant.placement.session, grant.placement.assignment));
        let mut unsent = Unsent { broken: Vec::new(), leases: Vec::new() };
        let mut inner = self.inner.lock();
        let mut grants = grants.into_iter().peekable();
        while let Some(Placement { session, epoch, .. }) = grants.peek().map(|next| next.placement)
        {
            let of_session =
                iter::from_fn(|| grants.next_if(|next| next.placement.session == session));
            let connection = inner.connections.get_mut(&session);
            let Some(connection) = connection.filter(|connection| connection.epoch == epoch) else {
                unsent.leases.extend(of_session.map(|grant| grant.placed.lease));
                continue;
            };
            let (mut assignments, mut bytes, mut sent) = (Vec::new(), 0, true);
            for Grant { placement, placed } in of_session {
                let lease =
                    HeldLease::of_placed(&placed, placement.hint.resources, placement.port_first);
                connection.leases.insert(placed.lease, lease);
                let assignment = assignment(&placement, placed, connection.runs);
                let more = assignment.bytes();
                if bytes + more > MAX_MESSAGE_BYTES / 2 && !assignments.is_empty() {
                    sent &= connection
                        .stream
                        .send(Assignments { assignments: std::mem::take(&mut assignments) });
                    bytes = 0;
                }
                bytes += more;
                assignments.push(assignment);
            }
            if !assignments.is_empty() {
                sent &= connection.stream.send(Assignments { assignments });
            }
            if !sent {
                unsent.broken.push(connection.stream.clone());
            }
            let pool = connection.pool.clone();
            inner.placed.insert(pool, clock::monotonic());
        }
        LEASES.set(
            inner.connections.values().map(|connection| connection.leases.len()).sum::<usize>()
                as f64,
        );
        unsent
    }

    /// Returns a copy of a lease and marks it as ending, so that a heartbeat does not end it too.
    pub(crate) fn begin_ending(&self, key: LeaseKey) -> Option<HeldLease> {
        let mut inner = self.inner.lock();
        let lease = inner.connections.get_mut(&key.session)?.leases.get_mut(&key)?;
        lease.ending = true;
        Some(lease.clone())
    }

    /// Reverts [`Self::begin_ending`] after a failed write.
    pub(crate) fn keep(&self, key: LeaseKey) {
        if let Some(lease) = self
            .inner
            .lock()
            .connections
            .get_mut(&key.session)
            .and_then(|connection| connection.leases.get_mut(&key))
        {
            lease.ending = false;
        }
    }

    /// Records that the executor accepted these.
    pub(crate) fn accepted(&self, session: SessionId, keys: impl Iterator<Item = LeaseKey>) {
        if let Some(connection) = self.inner.lock().connections.get_mut(&session) {
            for key in keys {
                if let Some(lease) = connection.leases.get_mut(&key) {
                    lease.accepted = true;
                }
            }
        }
    }

    /// Removes finished leases and frees their room; their outcomes count for the quarantine of the executor.
    pub(crate) fn release(&self, ended: impl Iterator<Item = (LeaseKey, Ending)>) {
        let mut pools = HashSet::new();
        let (mut inner, now) = (self.inner.lock(), self.now());
        for (key, ending) in ended {
            let Some(connection) = inner.connections.get_mut(&key.session) else { continue };
            let Some(lease) = connection.leases.remove(&key) else { continue };
            connection.give_back(lease.resources, lease.port_first);
            // A draining executor hands back its work as intended.
            if connection.accepting
                && let Some(lasts) = connection.conduct.ended(&self.rule, ending, now)
            {
                log_quarantine(connection, lasts);
            }
            let pool = connection.pool.clone();
            *inner.completed.entry(pool.clone()).or_default() += u64::from(lease.resources.slots());
            pools.insert(pool);
        }
        let wake: Vec<_> = pools.iter().filter_map(|pool| inner.room.get(pool).cloned()).collect();
        drop(inner);
        for room in wake {
            room.notify_one();
        }
        self.changed.notify_one();
    }

    /// Marks as ending and returns leases up to `last_assignment` that `held` does not list and that are not ending
    /// yet.
    pub(crate) fn unlisted(
        &self,
        session: SessionId,
        last_assignment: u64,
        held: &HashSet<LeaseKey>,
    ) -> Vec<Released> {
        let mut inner = self.inner.lock();
        let Some(connection) = inner.connections.get_mut(&session) else { return Vec::new() };
        let gone = connection
            .leases
            .iter_mut()
            .filter(|(key, lease)| {
                !lease.ending && lease.assignment <= last_assignment && !held.contains(*key)
            })
            .map(|(key, lease)| {
                lease.ending = true;
                Released { key: *key, lease: lease.clone() }
            });
        gone.collect()
    }

    /// Free room of each pool.
    pub(crate) fn loads(&self) -> Vec<PoolReport> {
        let mut inner = self.inner.lock();
        let now = self.now();
        inner.forget_what_fits(now);
        let mut loads: BTreeMap<PoolName, PoolReport> = BTreeMap::new();
        for connection in inner.connections.values() {
            let load = loads.entry(connection.pool.clone()).or_insert_with(|| PoolReport {
                pool: connection.pool.clone(),
                free_slots: 0,
                completed_slots: inner.completed.get(&connection.pool).copied().unwrap_or(0),
                largest: Resources::default(),
                free: Resources::default(),
                total: Resources::default(),
                lacks: inner.lacks.get(&connection.pool).cloned().unwrap_or_default(),
                drivers: DriverSet::of([]),
                last_placed: inner.placed.get(&connection.pool).copied().unwrap_or(self.began),
            });
            if connection.accepting {
                let (capacity, port_block) =
                    (connection.room.capacity(), connection.room.port_block());
                load.free_slots += u64::from(connection.slots(now));
                load.largest = load.largest.max(capacity);
                load.free =
                    load.free.max(Resources { ports: port_block, ..connection.room.free() });
                load.total = load.total.saturating_add(capacity);
                load.drivers = load.drivers.union(&connection.drivers);
            }
        }
        loads.into_values().collect()
    }

    fn notify_room(&self, pool: &PoolName) {
        self.room(pool).notify_one();
        self.changed.notify_one();
    }
}

impl Inner {
    fn remove(&mut self, session: SessionId) -> Option<ExecutorConnection> {
        let connection = self.connections.remove(&session)?;
        if !connection.conduct.is_clean() && self.conducts.len() < MOST_CONDUCTS {
            self.conducts.insert(connection.executor.clone(), connection.conduct);
        }
        Some(connection)
    }

    /// The executors of `pool`, with what each has free and its drivers.
    fn nodes(&self, pool: &PoolName, now: Duration) -> (Vec<SessionId>, Vec<Node>, Vec<DriverSet>) {
        let (mut sessions, mut nodes, mut drivers) = (Vec::new(), Vec::new(), Vec::new());
        for (session, connection) in &self.connections {
            if connection.pool == *pool {
                sessions.push(*session);
                nodes.push(connection.node(now));
                drivers.push(connection.drivers.clone());
            }
        }
        (sessions, nodes, drivers)
    }

    fn forget_what_fits(&mut self, now: Duration) {
        let mut all = std::mem::take(&mut self.lacks);
        for (pool, lacks) in all.iter_mut().filter(|(_, lacks)| !lacks.is_empty()) {
            let (_, nodes, drivers) = self.nodes(pool, now);
            lacks.retain(|driver, size| {
                choose(*size, &nodes, |at| drivers[at].offers(driver)).is_none()
            });
        }
        self.lacks = all;
    }
}

fn log_quarantine(connection: &ExecutorConnection, lasts: Duration) {
    QUARANTINES.inc();
    warn!(
        executor = %connection.executor, pool = %connection.pool, ?lasts,
        "Executor `{}` gives back what it is given: for {lasts:?} it gets nothing, then one attempt as a probe", connection.executor
    );
}

fn assignment(placement: &Placement, placed: Placed, runs: KindsOfRuns) -> Assignment {
    let key = placed.lease;
    let need = placement.hint.resources;
    Assignment {
        number: placement.assignment,
        lease: Some(key.into()),
        run: Some(assignment::Run::new(placed.run, runs)),
        cap_ms: u64::try_from(placed.cap.as_millis()).unwrap_or(u64::MAX),
        resources: Some(Capacity {
            cpu_millis: need.cpu_millis,
            memory_mib: need.memory_mib,
            disk_mib: need.disk_mib,
            iops: need.iops,
            port_first: placement.port_first,
            port_count: need.ports,
        }),
        traceparent: origin_of(key.task, placed.traceparent.as_deref())
            .of_run(key.task, key.attempt)
            .to_string(),
        due_at_us: placed.due_at.map(|at| at.timestamp_micros()),
        schedule: placed.schedule_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::load_from;

    #[test]
    fn the_largest_task_that_a_setting_allows_fits_into_a_message() {
        let load = |bytes: usize| {
            let setting = ("BERTH_API__MAX_TASK_BYTES".to_owned(), bytes.to_string());
            load_from(None, [setting]).map(|config| config.api.max_task_bytes)
        };
        // A message of several is at most half full; a larger task goes alone.
        let most = MAX_MESSAGE_BYTES / 2 - 512;
        assert!(load(4_000_000).is_ok_and(|bytes| bytes <= most));
        assert!(load(most + 1).is_err());
    }
}
