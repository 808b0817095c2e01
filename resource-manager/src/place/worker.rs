//! The placement loop of one pool: hints in, leases out.
//!
//! Consumes hints while its executors have room, places them in memory, claims them in one statement, sends the
//! assignments, then acks. Holds hints without room for at most `hint_hold`, or not at all if their size is already
//! reported as lacking or fits no idle executor; then returns the task to `ready` and reports its size as lacking. Without any room it stops consuming, so
//! that other resource managers get the hints.

use super::waiting::{InHand, Waiting};
use crate::fleet::{Fleet, Grant, Placement, submitted_under, trace_of};
use crate::lease_store::LeaseStore;
use crate::metrics::{CLAIM_SIZE, LOOP_SECONDS, PLACED, STALE_HINTS, UNPLACED, WAITED};
use crate::trace;
use bus::{Bus, Hint, HintConsumer, Topic};
use domain::epoch::Epoch;
use domain::id::{NodeId, PoolName, SessionId};
use domain::task::{AttemptOutcome, LeaseKey};
use runtime::backoff::Backoff;
use runtime::clock::{self, Instant};
use runtime::config::ResourceManagerConfig;
use runtime::fault::FaultPoint;
use runtime::health::Health;
use runtime::shutdown::Shutdown;
use runtime::tick::Turns;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use store::StoreError;
use store::task::transition::{Claim, EndedAttempt, SessionEpoch};
use tracing::{Instrument, debug, info_span, warn};

/// Without room for this long, a worker stops consuming.
const PAUSE_AFTER: Duration = Duration::from_millis(50);

/// Hints are delivered and not placed yet.
static DELIVERED: FaultPoint = FaultPoint::new("resource_manager.claim.delivered");
/// Leases are granted and not sent yet.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.claim.committed");
/// Assignments are sent and the deliveries not acked yet.
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
    /// Places until the shutdown, then returns held hints.
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
                self.return_overdue(&mut round).await;
                LOOP_SECONDS.with(&["place"]).observe_duration(began.elapsed());
            }
        }
        turns.end();
        let all: Vec<usize> = (0..round.in_hand.waiting.len()).collect();
        self.return_tasks(&mut round, all).await;
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

    /// When this loop must run without a signal.
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
        let taken = round.in_hand.remove(placements.iter().map(|placed| placed.index).collect());
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

    /// Claims and sends; returns the number granted.
    async fn claim(&self, placements: &[Placement]) -> Result<usize, StoreError> {
        let began = trace::now();
        let epochs: BTreeMap<SessionId, Epoch> =
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
            // The same task may be in two messages: the assignment number shows which placement won.
            let won = by_task.get(&placement.hint.dispatch.task).is_some_and(|p| {
                p.assignment == placement.assignment && p.lease.session == placement.session
            });
            // The loser must not touch the winner's grant: granted and never sent, it would not run.
            match won.then(|| by_task.remove(&placement.hint.dispatch.task)).flatten() {
                Some(placed) => grants.push(Grant { placement: *placement, placed }),
                None => refused.push(*placement),
            }
        }
        PLACED.inc_by(grants.len() as u64);
        for Grant { placed, .. } in &grants {
            WAITED.observe(placed.waited_ms.max(0) as f64 / 1000.0);
            let (lease, trace) = (placed.lease, placed.traceparent.as_deref().unwrap_or_default());
            debug!(task.id = %lease.task, lease.attempt, placed.waited_ms, trace, "Task `{}` is running", lease.task);
        }
        self.fleet.give_back(&refused);
        let count = grants.len();
        let traced: Vec<_> = grants
            .iter()
            .filter_map(|Grant { placed, .. }| {
                let submit = placed.traceparent.as_deref();
                let is_own = submitted_under(submit).is_none();
                let submit = trace_of(placed.lease.task, submit)?;
                Some((submit, is_own, placed.lease, placed.waited_ms))
            })
            .collect();
        let unsent = self.fleet.assign(grants);
        // Sent assignments cannot fail: only a kill is useful here.
        ASSIGNED.hit().await.ok();
        for (submit, is_own, lease, waited_ms) in traced {
            if let Some(began) = began {
                trace::placed(submit, is_own, &lease, waited_ms, began);
            }
        }
        for stream in unsent.broken {
            debug!(session = %stream.session, "An executor does not read its stream; it must connect anew");
            self.fleet.disconnect(&stream);
        }
        self.return_unsent(&unsent.leases).await;
        // After the grants are sent, which are urgent. Most of these are stale and stay unchanged. One whose executor
        // just left is still queued and is dispatched again now, not after the sweep.
        self.unqueue(refused.iter().map(|placement| placement.hint)).await;
        Ok(count)
    }

    /// Ends leases that were granted while their executor left: not sent, so no executor reports them.
    async fn return_unsent(&self, unsent: &[LeaseKey]) {
        if unsent.is_empty() {
            return;
        }
        let reason = "its executor left before the assignment was sent";
        let ended: Vec<_> = unsent
            .iter()
            .map(|lease| EndedAttempt::bare(*lease, AttemptOutcome::NotStarted, reason))
            .collect();
        if let Err(error) = self.db.not_started(&ended).await {
            warn!(%error, leases = unsent.len(), "Leases that were not sent could not be ended; they end with their session");
        }
        self.bus.wake(Topic::Batcher);
    }

    /// The outcome of the claim is unknown: the executors reconnect, and leases they do not hold are returned then.
    async fn claim_failed(&self, round: &mut Round, placements: &[Placement], error: &StoreError) {
        warn!(%error, pool = %self.pool, tasks = placements.len(), "A claim failed; its hints go back to the queue");
        self.fleet.give_back(placements);
        if error.outcome_unknown() {
            for placement in placements {
                if let Some(stream) = self.fleet.stream(placement.session) {
                    stream
                        .send(protocol::GoAway { reason: "leases must be read again".to_owned() });
                    self.fleet.disconnect(&stream);
                }
            }
        }
        round.in_hand.let_go();
        clock::sleep(round.backoff.pause()).await;
    }

    async fn return_overdue(&self, round: &mut Round) {
        let now = clock::monotonic();
        let overdue = |w: &Waiting| {
            now.saturating_duration_since(w.since) >= self.settings.hint_hold
                || self.fleet.is_lacking(&self.pool, &w.hint)
                || self.fleet.can_never_hold(&self.pool, &w.hint)
                || self.fleet.only_other_drivers_have_room(&self.pool, &w.hint)
        };
        let mut places = Vec::new();
        for (at, waiting) in round.in_hand.waiting.iter().enumerate() {
            if overdue(waiting) {
                // Known from here on, so that the others like it cost a comparison.
                self.fleet.lacks(&self.pool, &waiting.hint);
                places.push(at);
            }
        }
        if !places.is_empty() {
            UNPLACED.inc_by(places.len() as u64);
            self.return_tasks(round, places).await;
        }
    }

    async fn return_tasks(&self, round: &mut Round, places: Vec<usize>) {
        if places.is_empty() {
            return;
        }
        let back = round.in_hand.remove(places);
        self.unqueue(back.iter().map(|waiting| waiting.hint)).await;
        round.in_hand.ended(&back);
    }

    /// Returns tasks that are still queued to `ready`.
    async fn unqueue(&self, hints: impl Iterator<Item = Hint>) {
        let dispatches: Vec<_> = hints.map(|hint| hint.dispatch).collect();
        if dispatches.is_empty() {
            return;
        }
        if let Err(error) = self.db.unplaced(&dispatches).await {
            warn!(%error, pool = %self.pool, "Tasks that found no place could not be given back; the sweep does it");
        }
        self.bus.wake(Topic::Batcher);
    }
}
