//! All connected executors behind one lock, held for microseconds and never over an await.

use super::lease::{HeldKey, HeldLease, origin_of};
use super::seat::{Seat, Stream};
use crate::metrics::{EXECUTORS, LEASES, QUARANTINES};
use bus::Hint;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::placement::{Node, Shapes, choose};
use domain::quarantine::{Conduct, Ending, QuarantineRule};
use domain::resources::Resources;
use parking_lot::Mutex;
use protocol::{Assignment, Assignments, Capacity, MAX_MESSAGE_BYTES};
use runtime::clock::{self, Instant};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use store::lease::LeaseKey;
use store::load::PoolReport;
use store::task::transition::{Claim, Placed, SessionEpoch};
use tokio::sync::Notify;
use tracing::warn;

/// What an assignment weighs beside its `run`, generously. A message is cut at half the limit, and one `run` is at most
/// 256 KiB, so none passes it.
const ASSIGNMENT_BYTES: usize = 512;

/// A hint that was given room in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub hint: Hint,
    pub session: SessionId,
    pub epoch: i64,
    pub assignment: u64,
    pub port_first: u32,
}

/// What a claim granted, with the placement it came from.
pub(crate) type Grant = (Placement, Placed);

/// A lease that left memory.
#[derive(Debug, Clone)]
pub(crate) struct Released {
    pub key: LeaseKey,
    pub lease: HeldLease,
}

/// Executors that are not connected and of which something is remembered, at most.
const MOST_CONDUCTS: usize = 10_000;

#[derive(Default)]
struct Inner {
    seats: BTreeMap<SessionId, Seat>,
    /// Of executors that have left with a bad name: a new session does not make it good.
    conducts: HashMap<ExecutorId, Conduct>,
    /// When a task of the pool was last placed here.
    placed: HashMap<PoolName, Instant>,
    completed: HashMap<PoolName, u64>,
    /// Per pool what was held in vain, until it fits.
    lacks: HashMap<PoolName, Shapes>,
    room: HashMap<PoolName, Arc<Notify>>,
}

/// The connected executors.
#[derive(Clone)]
pub(crate) struct Fleet {
    inner: Arc<Mutex<Inner>>,
    rule: QuarantineRule,
    began: Instant,
    /// Something changed that the batcher should hear of.
    changed: Arc<Notify>,
}

impl Placement {
    pub(crate) fn claim(&self) -> Claim {
        Claim {
            tenant: self.hint.tenant,
            task: self.hint.task,
            dispatch_epoch: self.hint.dispatch_epoch,
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

    /// Seats an executor; an older seat of the same session is replaced, and one of an earlier session of it gets nothing more.
    /// `came_back`: it has come without something that it was given.
    pub(crate) fn seat(&self, mut seat: Seat, came_back: bool) {
        let pool = seat.pool.clone();
        let mut inner = self.inner.lock();
        let mut conduct = inner.conducts.remove(&seat.executor);
        for (session, other) in &mut inner.seats {
            if other.executor == seat.executor {
                conduct = Some(other.conduct);
                other.accepting &= *session == seat.stream.session;
            }
        }
        if let Some(mut conduct) = conduct {
            // Whatever became of a probe: it was not of this stream.
            conduct.not_given(self.now());
            seat.conduct = conduct;
        }
        // Once, however much it was: what was on its way as a stream broke is no fault of its executor.
        if came_back
            && let Some(lasts) = seat.conduct.ended(&self.rule, Ending::CameBack, self.now())
        {
            told_of_quarantine(&seat, lasts);
        }
        inner.seats.insert(seat.stream.session, seat);
        EXECUTORS.set(inner.seats.len() as f64);
        drop(inner);
        self.tell(&pool);
    }

    /// Removes the seat that `stream` made; a newer stream's stays. Its leases live on in the database.
    pub(crate) fn unseat(&self, stream: &Stream) -> Option<Seat> {
        let mut inner = self.inner.lock();
        let ours = inner.seats.get(&stream.session).is_some_and(|seat| seat.stream.id == stream.id);
        let seat = if ours { inner.remove(stream.session) } else { None };
        EXECUTORS.set(inner.seats.len() as f64);
        drop(inner);
        self.changed.notify_one();
        seat
    }

    /// True while `stream` is its executor's newest.
    pub(crate) fn knows(&self, stream: &Stream) -> bool {
        self.inner.lock().seats.get(&stream.session).is_some_and(|seat| seat.stream.id == stream.id)
    }

    /// Removes whatever seat `session` has.
    pub(crate) fn remove(&self, session: SessionId) -> Option<Seat> {
        let seat = self.inner.lock().remove(session);
        self.changed.notify_one();
        seat
    }

    /// Every connected session with its epoch.
    pub(crate) fn sessions(&self) -> Vec<SessionEpoch> {
        let inner = self.inner.lock();
        inner
            .seats
            .iter()
            .map(|(session, seat)| SessionEpoch { session: *session, epoch: seat.epoch })
            .collect()
    }

    /// Connected sessions that hold leases.
    pub(crate) fn busy(&self) -> Vec<SessionId> {
        let inner = self.inner.lock();
        let busy = inner.seats.iter().filter(|(_, seat)| !seat.leases.is_empty());
        busy.map(|(session, _)| *session).collect()
    }

    /// Every stream.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        self.inner.lock().seats.values().map(|seat| seat.stream.clone()).collect()
    }

    /// The stream of `session`.
    pub(crate) fn stream(&self, session: SessionId) -> Option<Stream> {
        self.inner.lock().seats.get(&session).map(|seat| seat.stream.clone())
    }

    /// No more placements on `session`: it drains.
    pub(crate) fn drain(&self, session: SessionId) {
        if let Some(seat) = self.inner.lock().seats.get_mut(&session) {
            seat.accepting = false;
        }
        self.changed.notify_one();
    }

    /// True where some executor of `pool` could take a task: a basic one, or one that asks for none of what is used up there.
    pub(crate) fn has_room(&self, pool: &PoolName) -> bool {
        let (inner, now) = (self.inner.lock(), self.now());
        inner.seats.values().any(|seat| seat.pool == *pool && seat.slots(now) > 0)
    }

    /// Sessions that get probes at most.
    pub(crate) fn quarantined(&self) -> HashSet<SessionId> {
        let inner = self.inner.lock();
        let held = inner.seats.iter().filter(|(_, seat)| seat.conduct.is_quarantined());
        held.map(|(session, _)| *session).collect()
    }

    /// Gives room to what fits of `hints`, largest first; the places of the placed in `hints` come with them.
    pub(crate) fn place(&self, pool: &PoolName, hints: &[Hint]) -> Vec<(usize, Placement)> {
        let (mut inner, now) = (self.inner.lock(), self.now());
        let mut sessions = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        for (session, seat) in inner.seats.iter().filter(|(_, seat)| seat.pool == *pool) {
            sessions.push(*session);
            nodes.push(seat.node(now));
        }
        let mut order: Vec<usize> = (0..hints.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(hints[*at].resources.slots()));
        let mut placed = Vec::new();
        let mut too_large: Option<Resources> = None;
        for at in order {
            let need = hints[at].resources;
            // What is as large as one that did not fit does not fit either: a full pool costs one look a size.
            if too_large == Some(need) {
                continue;
            }
            let Some(node) = choose(need, &nodes) else {
                too_large = Some(need);
                continue;
            };
            let session = sessions[node];
            let Some(seat) = inner.seats.get_mut(&session) else { continue };
            let Some((assignment, port_first)) = seat.reserve(need, now) else { continue };
            nodes[node] = seat.node(now);
            placed.push((
                at,
                Placement { hint: hints[at], session, epoch: seat.epoch, assignment, port_first },
            ));
        }
        placed
    }

    /// A task of `size` was held in vain, or would be: tasks as large are not wanted here until one fits.
    pub(crate) fn lacks(&self, pool: &PoolName, size: Resources) {
        let mut inner = self.inner.lock();
        if !inner.lacks.get(pool).is_some_and(|known| known.covers(size)) {
            inner.lacks.entry(pool.clone()).or_default().add(size);
            drop(inner);
            self.changed.notify_one();
        }
    }

    /// True where a task of `size` found no room and does not fit yet: holding another makes no sense.
    pub(crate) fn is_lacking(&self, pool: &PoolName, size: Resources) -> bool {
        self.inner.lock().lacks.get(pool).is_some_and(|known| known.covers(size))
    }

    /// True where some executor takes work of the pool and none would have room for `size` even if it were idle: no wait helps. With
    /// as many sizes lacking as can be remembered a wait does: what is forgotten comes again at once.
    pub(crate) fn can_never_hold(&self, pool: &PoolName, size: Resources) -> bool {
        let inner = self.inner.lock();
        if inner.lacks.get(pool).is_some_and(|known| known.least().len() == Shapes::MOST) {
            return false;
        }
        let mut seats =
            inner.seats.values().filter(|seat| seat.accepting && seat.pool == *pool).peekable();
        seats.peek().is_some() && seats.all(|seat| !size.fits_in(seat.room.capacity()))
    }

    /// Room that was taken for placements that were not granted goes back.
    pub(crate) fn give_back(&self, placements: &[Placement]) {
        let (mut inner, now) = (self.inner.lock(), self.now());
        for placement in placements {
            // Another epoch is another seat: it was made from the live leases and knows nothing of this placement.
            if let Some(seat) =
                inner.seats.get_mut(&placement.session).filter(|seat| seat.epoch == placement.epoch)
            {
                seat.give_back(placement.hint.resources, placement.port_first);
                seat.conduct.not_given(now);
            }
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Holds what was granted and sends it to the executors, in the order of the assignment numbers. Says
    /// which streams could not take it, and which leases nobody was told of because their executor has left.
    pub(crate) fn assign(&self, mut grants: Vec<Grant>) -> (Vec<Stream>, Vec<LeaseKey>) {
        grants.sort_by_key(|(placement, _)| (placement.session, placement.assignment));
        let (mut broken, mut untold) = (Vec::new(), Vec::new());
        let mut inner = self.inner.lock();
        for of_session in grants.chunk_by(|(a, _), (b, _)| a.session == b.session) {
            let Some(first) = of_session.first() else { continue };
            let Some(seat) =
                inner.seats.get_mut(&first.0.session).filter(|seat| seat.epoch == first.0.epoch)
            else {
                untold.extend(of_session.iter().map(|(_, placed)| placed.lease));
                continue;
            };
            let (mut assignments, mut bytes, mut sent) = (Vec::new(), 0, true);
            for (placement, placed) in of_session {
                let lease =
                    HeldLease::of_placed(placed, placement.hint.resources, placement.port_first);
                seat.leases.insert(placed.lease.into(), lease);
                bytes += placed.run_json.len() + ASSIGNMENT_BYTES;
                assignments.push(assignment(placement, placed));
                if bytes >= MAX_MESSAGE_BYTES / 2 {
                    sent &= seat
                        .stream
                        .send(Assignments { assignments: std::mem::take(&mut assignments) });
                    bytes = 0;
                }
            }
            if !assignments.is_empty() {
                sent &= seat.stream.send(Assignments { assignments });
            }
            if !sent {
                broken.push(seat.stream.clone());
            }
            let pool = seat.pool.clone();
            inner.placed.insert(pool, clock::monotonic());
        }
        LEASES.set(inner.seats.values().map(|seat| seat.leases.len()).sum::<usize>() as f64);
        (broken, untold)
    }

    /// A copy of what is known of a lease; marks it as ending, so that a heartbeat does not end it too.
    pub(crate) fn begin_ending(&self, key: LeaseKey) -> Option<HeldLease> {
        let mut inner = self.inner.lock();
        let lease = inner.seats.get_mut(&key.session)?.leases.get_mut(&key.into())?;
        lease.ending = true;
        Some(lease.clone())
    }

    /// The end could not be written: the lease stands as before.
    pub(crate) fn keep(&self, key: LeaseKey) {
        if let Some(lease) = self
            .inner
            .lock()
            .seats
            .get_mut(&key.session)
            .and_then(|seat| seat.leases.get_mut(&key.into()))
        {
            lease.ending = false;
        }
    }

    /// The executor took these up.
    pub(crate) fn accepted(&self, session: SessionId, keys: impl Iterator<Item = HeldKey>) {
        if let Some(seat) = self.inner.lock().seats.get_mut(&session) {
            for key in keys {
                if let Some(lease) = seat.leases.get_mut(&key) {
                    lease.accepted = true;
                }
            }
        }
    }

    /// These leases are over: their room is free again, and how they ended says whether their executor is to have more.
    pub(crate) fn release(&self, ended: impl Iterator<Item = (LeaseKey, Ending)>) {
        let mut pools = HashSet::new();
        let (mut inner, now) = (self.inner.lock(), self.now());
        for (key, ending) in ended {
            let Some(seat) = inner.seats.get_mut(&key.session) else { continue };
            let Some(lease) = seat.leases.remove(&key.into()) else { continue };
            seat.give_back(lease.resources, lease.port_first);
            // One that drains gives back what it has, as it should.
            if seat.accepting
                && let Some(lasts) = seat.conduct.ended(&self.rule, ending, now)
            {
                told_of_quarantine(seat, lasts);
            }
            let pool = seat.pool.clone();
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

    /// Leases at or below `last_assignment` that `held` does not list and that are not ending already; each is marked
    /// as ending.
    pub(crate) fn unlisted(
        &self,
        session: SessionId,
        last_assignment: u64,
        held: &HashSet<HeldKey>,
    ) -> Vec<Released> {
        let mut inner = self.inner.lock();
        let Some(seat) = inner.seats.get_mut(&session) else { return Vec::new() };
        let gone = seat
            .leases
            .iter_mut()
            .filter(|(key, lease)| {
                !lease.ending && lease.assignment <= last_assignment && !held.contains(*key)
            })
            .map(|(key, lease)| {
                lease.ending = true;
                let key = LeaseKey {
                    tenant: lease.tenant,
                    task: key.task,
                    attempt: key.attempt,
                    session,
                };
                Released { key, lease: lease.clone() }
            });
        gone.collect()
    }

    /// What each pool has to give.
    pub(crate) fn loads(&self) -> Vec<PoolReport> {
        let mut inner = self.inner.lock();
        let now = self.now();
        inner.forget_what_fits(now);
        let mut loads: BTreeMap<PoolName, PoolReport> = BTreeMap::new();
        for seat in inner.seats.values() {
            let load = loads.entry(seat.pool.clone()).or_insert_with(|| PoolReport {
                pool: seat.pool.clone(),
                free_slots: 0,
                completed_slots: inner.completed.get(&seat.pool).copied().unwrap_or(0),
                largest: Resources::default(),
                free: Resources::default(),
                total: Resources::default(),
                lacks: inner.lacks.get(&seat.pool).cloned().unwrap_or_default(),
                last_placed: inner.placed.get(&seat.pool).copied().unwrap_or(self.began),
            });
            if seat.accepting {
                let (capacity, port_block) = (seat.room.capacity(), seat.room.port_block());
                load.free_slots += u64::from(seat.slots(now));
                load.largest = load.largest.max(capacity);
                load.free = load.free.max(Resources { ports: port_block, ..seat.room.free() });
                load.total = load.total.saturating_add(capacity);
            }
        }
        loads.into_values().collect()
    }

    fn tell(&self, pool: &PoolName) {
        self.room(pool).notify_one();
        self.changed.notify_one();
    }
}

impl Inner {
    fn remove(&mut self, session: SessionId) -> Option<Seat> {
        let seat = self.seats.remove(&session)?;
        if !seat.conduct.is_clean() && self.conducts.len() < MOST_CONDUCTS {
            self.conducts.insert(seat.executor.clone(), seat.conduct);
        }
        Some(seat)
    }

    fn forget_what_fits(&mut self, now: Duration) {
        for (pool, lacks) in &mut self.lacks {
            if !lacks.is_empty() {
                let seats = self.seats.values().filter(|seat| seat.pool == *pool);
                let nodes: Vec<Node> = seats.map(|seat| seat.node(now)).collect();
                lacks.retain(|size| choose(*size, &nodes).is_none());
            }
        }
    }
}

fn told_of_quarantine(seat: &Seat, lasts: Duration) {
    QUARANTINES.inc();
    warn!(
        executor = %seat.executor, pool = %seat.pool, ?lasts,
        "Executor `{}` gives back what it is given: for {lasts:?} it gets nothing, then one attempt as a probe", seat.executor
    );
}

fn assignment(placement: &Placement, placed: &Placed) -> Assignment {
    let key = protocol::LeaseKey {
        tenant: placed.lease.tenant,
        task: placed.lease.task,
        attempt: placed.lease.attempt,
    };
    let need = placement.hint.resources;
    Assignment {
        number: placement.assignment,
        lease: Some(key.into()),
        run_json: placed.run_json.clone(),
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
        schedule: placed.schedule_name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::load_from;

    #[test]
    fn the_largest_task_that_a_setting_allows_fits_into_a_message_behind_others() {
        let load = |bytes: usize| {
            let setting = ("BERTH_API__MAX_TASK_BYTES".to_owned(), bytes.to_string());
            load_from(None, [setting]).map(|config| config.api.max_task_bytes)
        };
        // A message is sent once it is half full, with what filled it.
        let most = MAX_MESSAGE_BYTES / 2 - ASSIGNMENT_BYTES;
        assert!(load(4_000_000).is_ok_and(|bytes| bytes <= most));
        assert!(load(most + 1).is_err());
    }
}
