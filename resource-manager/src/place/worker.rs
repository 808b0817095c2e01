//! One pool's placing loop: hints in, leases out.
//!
//! Takes hints while its executors have room, places what fits in memory, claims it in one statement,
//! sends the assignments, then acks. Holds what does not fit for `hint_hold` at most, and what would fit no idle executor either not
//! at all, then gives it back to `ready` and reports its size, of which no more comes until it fits; with no room at all it stops
//! consuming, so that hints go to who has room.

use super::waiting::{InHand, Waiting};
use crate::fleet::{Fleet, Grant, Placement, submitted_under, trace_of};
use crate::lease_store::LeaseStore;
use crate::metrics::{CLAIM_SIZE, LOOP_SECONDS, PLACED, STALE_HINTS, UNPLACED, WAITED};
use crate::trace;
use bus::{Bus, Hint, HintConsumer, Topic};
use domain::id::{NodeId, PoolName, SessionId};
use domain::task::{AttemptOutcome, Malformed};
use runtime::backoff::Backoff;
use runtime::clock::{self, Instant};
use runtime::config::ResourceManagerConfig;
use runtime::fault::FaultPoint;
use runtime::health::Health;
use runtime::shutdown::Shutdown;
use runtime::tick::Turns;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use store::StoreError;
use store::lease::LeaseKey;
use store::malformed::tell;
use store::task::transition::{Claim, EndedAttempt, Placed, SessionEpoch};
use tracing::{Instrument, debug, info_span, warn};

/// Without room for this long, a worker stops consuming.
const PAUSE_AFTER: Duration = Duration::from_millis(50);

/// Hints were delivered and none of their tasks is placed.
static DELIVERED: FaultPoint = FaultPoint::new("resource_manager.claim.delivered");
/// Leases are granted, and no executor was told.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.claim.committed");
/// Executors were told, and the deliveries are not acked.
static ASSIGNED: FaultPoint = FaultPoint::new("resource_manager.claim.assigned");

pub(crate) struct PoolWorker<S> {
    pub pool: PoolName,
    pub db: S,
    pub node: NodeId,
    pub bus: Bus,
    pub fleet: Fleet,
    pub settings: ResourceManagerConfig,
    pub prefetch: u16,
    pub health: Health,
}

struct Round {
    consumer: HintConsumer,
    in_hand: InHand,
    full_since: Option<Instant>,
    paused: bool,
    backoff: Backoff,
}

impl<S: LeaseStore> PoolWorker<S> {
    /// Places until the shutdown, then gives back what is in hand.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let mut round = Round {
            consumer: self.bus.consume(&self.pool, self.prefetch),
            in_hand: InHand::default(),
            full_since: None,
            paused: false,
            backoff: Backoff::new(Duration::from_millis(50), Duration::from_secs(2)),
        };
        let room = self.fleet.room(&self.pool);
        let turns = Turns::of(format!("place_{}", self.pool), &self.health);
        while !shutdown.is_cancelled() {
            let has_room = self.fleet.has_room(&self.pool);
            self.pause_or_resume(&mut round, has_room);
            let wants_more = has_room && round.in_hand.waiting.len() < self.settings.claim_batch;
            let deadline = self.deadline(&round);
            // At least every second.
            turns.alive();
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                delivery = round.consumer.next(), if wants_more => {
                    let Some(delivery) = delivery else { break };
                    self.fill(&mut round, delivery);
                }
                () = room.notified() => {}
                () = clock::sleep_until(deadline) => {}
            }
            if !round.in_hand.waiting.is_empty() {
                let began = clock::monotonic();
                self.place(&mut round).await;
                self.give_back_overdue(&mut round).await;
                LOOP_SECONDS.with(&["place"]).observe_duration(began.elapsed());
            }
        }
        turns.end();
        let all: Vec<usize> = (0..round.in_hand.waiting.len()).collect();
        self.give_back(&mut round, all).await;
    }

    fn fill(&self, round: &mut Round, first: bus::Delivery) {
        let now = clock::monotonic();
        round.in_hand.take(first, now);
        while round.in_hand.waiting.len() < self.settings.claim_batch {
            let Some(more) = round.consumer.try_next() else { break };
            round.in_hand.take(more, now);
        }
    }

    fn pause_or_resume(&self, round: &mut Round, has_room: bool) {
        if has_room {
            round.full_since = None;
            if std::mem::take(&mut round.paused) {
                round.consumer.resume();
            }
            return;
        }
        let since = *round.full_since.get_or_insert_with(clock::monotonic);
        if !round.paused && since.elapsed() >= PAUSE_AFTER {
            round.paused = true;
            round.consumer.pause();
        }
    }

    /// When this loop must look again by itself.
    fn deadline(&self, round: &Round) -> Instant {
        let hold = round.in_hand.waiting.iter().map(|w| w.since + self.settings.hint_hold).min();
        let pause = round.full_since.filter(|_| !round.paused).map(|since| since + PAUSE_AFTER);
        let idle = clock::monotonic() + Duration::from_secs(1);
        [hold, pause].into_iter().flatten().fold(idle, Instant::min)
    }

    async fn place(&self, round: &mut Round) {
        let hints: Vec<_> = round.in_hand.waiting.iter().map(|w| w.hint).collect();
        let placements = self.fleet.place(&self.pool, &hints);
        if placements.is_empty() {
            return;
        }
        let (places, placements): (Vec<usize>, Vec<Placement>) = placements.into_iter().unzip();
        let taken = round.in_hand.remove(places);
        CLAIM_SIZE.observe(placements.len() as f64);
        let span = info_span!("task.place", pool = %self.pool, tasks = placements.len());
        match self.claim(&placements).instrument(span).await {
            Ok(granted) => {
                round.in_hand.ended(&taken);
                STALE_HINTS.inc_by(taken.len().saturating_sub(granted) as u64);
                round.backoff.reset();
            }
            Err(error) => self.claim_failed(round, &placements, &error).await,
        }
    }

    /// Claims and sends; says how many were granted.
    async fn claim(&self, placements: &[Placement]) -> Result<usize, StoreError> {
        let began = trace::now();
        let epochs: BTreeMap<SessionId, i64> =
            placements.iter().map(|p| (p.session, p.epoch)).collect();
        let sessions: Vec<_> =
            epochs.into_iter().map(|(session, epoch)| SessionEpoch { session, epoch }).collect();
        let claims: Vec<Claim> = placements.iter().map(Placement::claim).collect();
        let grace = self.settings.hard_end_grace();
        DELIVERED.hit().await?;
        let granted = self.db.placed(self.node, &sessions, &claims, grace).await?;
        COMMITTED.hit().await?;
        let mut by_task: HashMap<_, _> =
            granted.into_iter().map(|placed| (placed.lease.task, placed)).collect();
        let (mut grants, mut refused): (Vec<Grant>, Vec<Placement>) = (Vec::new(), Vec::new());
        for placement in placements {
            // The same task may have come in two messages: the assignment number tells which placement won.
            let won = by_task.get(&placement.hint.task).is_some_and(|p| {
                p.assignment == placement.assignment && p.lease.session == placement.session
            });
            // A loser must leave the winner's grant to the winner: granted and never sent, it would run nowhere.
            match won.then(|| by_task.remove(&placement.hint.task)).flatten() {
                Some(placed) => grants.push((*placement, placed)),
                None => refused.push(*placement),
            }
        }
        PLACED.inc_by(grants.len() as u64);
        for (_, placed) in &grants {
            WAITED.observe(placed.waited_ms.max(0) as f64 / 1000.0);
            let (lease, trace) = (placed.lease, placed.traceparent.as_deref().unwrap_or_default());
            debug!(task.id = %lease.task, lease.attempt, placed.waited_ms, trace, "Task `{}` is running", lease.task);
        }
        self.fleet.give_back(&refused);
        let grants = self.end_malformed(grants).await;
        let count = grants.len();
        let traced: Vec<_> = grants
            .iter()
            .filter_map(|(_, placed)| {
                let submit = placed.traceparent.as_deref();
                let is_own = submitted_under(submit).is_none();
                let origin = (trace_of(placed.lease.task, submit)?, is_own);
                Some((origin, placed.lease, placed.waited_ms))
            })
            .collect();
        let (broken, untold) = self.fleet.assign(grants);
        // What was sent cannot fail any more: only a kill makes sense here.
        ASSIGNED.hit().await.ok();
        for (origin, lease, waited_ms) in traced {
            began.iter().for_each(|began| trace::placed(origin, &lease, waited_ms, *began));
        }
        for stream in broken {
            debug!(session = %stream.session, "An executor does not read its stream; it must connect anew");
            self.fleet.unseat(&stream);
        }
        self.take_back_untold(&untold).await;
        // After the grants are on their way, for whom every moment counts. Most are stale and stay what they are. One whose
        // executor left in this moment is still queued: its turn comes again now, and not after the sweep.
        self.unqueue(refused.iter().map(|placement| placement.hint)).await;
        Ok(count)
    }

    /// Ends what no executor can run, and tells none of it; gives the others.
    async fn end_malformed(&self, grants: Vec<Grant>) -> Vec<Grant> {
        let what = |placed: &Placed| Malformed::of(&placed.run_json, placed.retry_json.as_deref());
        let ended: Vec<_> = grants
            .iter()
            .filter_map(|(_, placed)| {
                let what = what(placed)?;
                tell("task_spec", &placed.lease.task.to_string(), what.reason());
                Some(EndedAttempt::bare(placed.lease, AttemptOutcome::NotStarted, what.reason()))
            })
            .collect();
        if ended.is_empty() {
            return grants;
        }
        if let Err(error) = self.db.attempt_malformed(&ended).await {
            warn!(%error, leases = ended.len(), "Tasks that cannot be run could not be ended; their executors do it");
            return grants;
        }
        let over: HashSet<_> = ended.iter().map(|ended| ended.lease).collect();
        let (bad, good): (Vec<_>, Vec<_>) =
            grants.into_iter().partition(|(_, placed)| over.contains(&placed.lease));
        let places: Vec<_> = bad.into_iter().map(|(placement, _)| placement).collect();
        self.fleet.give_back(&places);
        good
    }

    /// Leases that were granted while their executor left: nobody was told, so nobody will report.
    async fn take_back_untold(&self, untold: &[LeaseKey]) {
        if untold.is_empty() {
            return;
        }
        let reason = "its executor left before it was told";
        let ended: Vec<_> = untold
            .iter()
            .map(|lease| EndedAttempt::bare(*lease, AttemptOutcome::NotStarted, reason))
            .collect();
        if let Err(error) = self.db.not_started(&ended).await {
            warn!(%error, leases = untold.len(), "Leases nobody was told of could not be ended; they end with their session");
        }
        self.bus.wake(Topic::Batcher);
    }

    /// What was claimed is not known: executors concerned connect anew, and what they do not hold is given back then.
    async fn claim_failed(&self, round: &mut Round, placements: &[Placement], error: &StoreError) {
        warn!(%error, pool = %self.pool, tasks = placements.len(), "A claim failed; its hints go back to the queue");
        self.fleet.give_back(placements);
        if error.outcome_unknown() {
            for placement in placements {
                if let Some(stream) = self.fleet.stream(placement.session) {
                    stream
                        .send(protocol::GoAway { reason: "leases must be read again".to_owned() });
                    self.fleet.unseat(&stream);
                }
            }
        }
        round.in_hand.let_go();
        clock::sleep(round.backoff.pause()).await;
    }

    async fn give_back_overdue(&self, round: &mut Round) {
        let now = clock::monotonic();
        let overdue = |w: &Waiting| {
            now.saturating_duration_since(w.since) >= self.settings.hint_hold
                || self.fleet.is_lacking(&self.pool, w.hint.resources)
                || self.fleet.can_never_hold(&self.pool, w.hint.resources)
        };
        let places: Vec<usize> = (0..round.in_hand.waiting.len())
            .filter(|at| overdue(&round.in_hand.waiting[*at]))
            .collect();
        if !places.is_empty() {
            UNPLACED.inc_by(places.len() as u64);
            for at in &places {
                self.fleet.lacks(&self.pool, round.in_hand.waiting[*at].hint.resources);
            }
            self.give_back(round, places).await;
        }
    }

    async fn give_back(&self, round: &mut Round, places: Vec<usize>) {
        if places.is_empty() {
            return;
        }
        let back = round.in_hand.remove(places);
        self.unqueue(back.iter().map(|waiting| waiting.hint)).await;
        round.in_hand.ended(&back);
    }

    /// Gives those that are still queued back to the batcher.
    async fn unqueue(&self, hints: impl Iterator<Item = Hint>) {
        let dispatches: Vec<_> =
            hints.map(|hint| (hint.tenant, hint.task, hint.dispatch_epoch)).collect();
        if dispatches.is_empty() {
            return;
        }
        if let Err(error) = self.db.unplaced(&dispatches).await {
            warn!(%error, pool = %self.pool, "Tasks that found no place could not be given back; the sweep does it");
        }
        self.bus.wake(Topic::Batcher);
    }
}
