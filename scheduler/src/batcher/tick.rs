//! One tick of the batcher: read what there is to give, choose, mark, publish.
//!
//! Woken by submits and by room that appears, and by a timer behind them. The choice is pure code in `domain`. A tick rests a
//! little for each task it dispatched, so that under load batches grow instead of ticks, and a lone task delays nobody.

use super::backlog::Plan;
use super::charging::Charging;
use super::load::PoolView;
use super::pool::PoolState;
use super::publish::Publisher;
use super::rest::{MANY, Pace, rest_after};
use super::tenants::Tenants;
use crate::leader::Leader;
use crate::metrics::{BATCH, DISPATCHED, LAG, STOPPED};
use bus::{Bus, ConnectionState, Hint};
use domain::batch::{Pick, Running, StopReason, batch_slots};
use domain::id::{PoolName, TaskId, TenantId};
use domain::resources::Resources;
use domain::time::Timestamp;
use runtime::clock::{self, Instant};
use runtime::config::SchedulerConfig;
use runtime::fine_timer::FineTimer;
use runtime::tasks::TaskGroup;
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::leadership::LeaderEpoch;
use store::task::{Seen, StrandRows, all_ready, candidates, transition};
use store::turn::PoolTurn;
use tracing::info;

/// How old the list of pools and the terms of tenants may be: with the longest rest of a tick and what waits in the
/// broker, a change acts within a second.
const REFRESH: Duration = Duration::from_millis(500);
/// So old terms are read before anything is handed out: ticks come rarely, or the last ones could not read them.
const STALE: Duration = Duration::from_millis(700);
/// How often turns are written down for whoever takes over.
const KEEP: Duration = Duration::from_secs(1);
/// The next look where more waits than there was room for: nobody tells of each task that is placed.
const LIMITED: Duration = Duration::from_millis(10);
/// The next look where there was no room at all. Its end is told, unless it is the end of a long queue.
const FULL: Duration = Duration::from_millis(50);
/// Between two counts of what tenants hold, where one is at its limit: this many times what a count takes, within these bounds.
const COUNT_REST: u32 = 20;
const COUNT_LEAST: Duration = Duration::from_millis(20);
const COUNT_MOST: Duration = Duration::from_secs(1);
/// Where more concurrency keys are known than this, a count forgets those that hold nothing.
const KEYS: usize = 50_000;
/// Hints of tenants that may not run any more, taken back at once; the sweep takes back the rest.
const TAKEN_BACK: i64 = 5000;
/// The rest after the broker did not take all hints of a dispatch.
const REFUSED_REST: Duration = Duration::from_millis(250);

pub(crate) struct Batcher {
    db: SchedulerDb,
    bus: Bus,
    leader: Arc<Leader>,
    settings: SchedulerConfig,
    led: Option<LeaderEpoch>,
    pools: Vec<PoolName>,
    refreshed: Option<Instant>,
    kept: Option<Instant>,
    per_pool: HashMap<PoolName, PoolState>,
    tenants: Tenants,
    running: Running,
    charging: Charging,
    /// When what tenants hold may be counted again; `None`: it must be, before anything is handed out.
    count_from: Option<Instant>,
    rests_until: Option<Instant>,
    /// The last tick.
    began: Option<Instant>,
    pace: Pace,
    /// For the rest, which a coarser timer would make ten times as long after a lone task.
    rest: FineTimer,
    publisher: Publisher,
}

/// What a tick did in one pool.
#[derive(Clone, Copy)]
enum Dispatched {
    /// No room; what waits is not known.
    Full,
    /// All the tasks it may hand out at a time; `u64` of them.
    Most(u64),
    /// As many as there was room for.
    Limited(u64),
    /// All that waits.
    All(u64),
}

/// What was picked in a pool.
struct Choice {
    /// By the database's clock.
    now: Timestamp,
    picked: Vec<Pick>,
    /// Of each task that was seen.
    resources: HashMap<TaskId, Resources>,
    /// Not all that may wait was seen, and it is worth looking at once.
    unseen: bool,
    /// Something finds no room for its size.
    lack: bool,
}

impl Batcher {
    pub(crate) fn new(
        db: SchedulerDb,
        bus: Bus,
        leader: Arc<Leader>,
        settings: SchedulerConfig,
        tasks: TaskGroup,
    ) -> Self {
        let publisher = Publisher::new(db.clone(), bus.clone(), tasks);
        Self {
            db,
            bus,
            leader,
            settings,
            led: None,
            pools: Vec::new(),
            refreshed: None,
            kept: None,
            per_pool: HashMap::new(),
            tenants: Tenants::default(),
            running: Running::default(),
            charging: Charging::default(),
            count_from: None,
            rests_until: None,
            began: None,
            pace: Pace::default(),
            rest: FineTimer::new(),
            publisher,
        }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        let refused = self.publisher.was_refused().then(|| clock::monotonic() + REFUSED_REST);
        if let Some(until) = self.rests_until.take().max(refused) {
            // Not the ticker's pause, which a wake-up ends: under load there is always one.
            self.rest.until(until).await;
        }
        let Some(epoch) = self.leader.epoch() else {
            self.led = None;
            return Ok(TickOutcome::idle(0));
        };
        if self.led != Some(epoch) {
            // What an earlier term knew of rates and turns is out of date.
            self.per_pool.clear();
            (self.refreshed, self.kept, self.count_from) = (None, None, None);
            self.charging = Charging::default();
            self.led = Some(epoch);
        }
        if *self.bus.connection().borrow() != ConnectionState::Connected {
            // Marking tasks only to take them back would cost two row versions each, every tick.
            return Ok(TickOutcome::idle(0));
        }
        if self.refreshed.is_none() {
            // What the batcher before has handed out is not charged yet: these ends are not of what this one hands out.
            self.hear().await?;
        }
        if self.refreshed.is_none_or(|at| at.elapsed() >= STALE) {
            self.refresh().await?;
        }
        self.count().await?;
        let began = clock::monotonic();
        let since = began - self.began.replace(began).unwrap_or(began);
        let dispatched = self.dispatch_all(epoch).await;
        if self.leader.epoch() != Some(epoch) {
            // Whoever leads now writes down how turns stand.
            return dispatched.map(|(done, _)| TickOutcome::idle(done));
        }
        // After what waits was handed out: nobody waits for these. And where that failed, too: a pause may be the remedy.
        let heard = self.hear().await;
        self.refresh().await?;
        heard?;
        let (done, mut again) = dispatched?;
        self.freshen().await?;
        if self.running.holds_back() {
            let pause = self.count_from.map(|at| at.saturating_duration_since(clock::monotonic()));
            again = [again, pause].into_iter().flatten().min();
        }
        self.pace.ticked(done, since);
        if done > 0 {
            self.rests_until = Some(clock::monotonic() + rest_after(done));
        }
        if done >= MANY && again.is_none() {
            self.rests_until = self.rests_until.max(Some(began + self.pace.next()));
            again = Some(Duration::ZERO);
        }
        Ok(again.map_or(TickOutcome::idle(done), |pause| TickOutcome::after(pause, done)))
    }

    /// Fills each pool; says how many tasks were dispatched, and when to look again.
    async fn dispatch_all(
        &mut self,
        epoch: LeaderEpoch,
    ) -> Result<(u64, Option<Duration>), StoreError> {
        let (mut done, mut again) = (0, None);
        for pool in self.pools.clone() {
            let dispatched = self.dispatch(epoch, &pool).await?;
            done += dispatched.tasks();
            again = [again, dispatched.again()].into_iter().flatten().min();
        }
        Ok((done, again))
    }

    /// Charges what attempts took that have ended.
    async fn hear(&mut self) -> Result<(), StoreError> {
        let turns = self.per_pool.values_mut().map(|state| &mut state.turns);
        self.charging.update(&self.db, turns).await
    }

    /// Reads again what there is to give in each pool.
    async fn freshen(&mut self) -> Result<(), StoreError> {
        for pool in &self.pools {
            if let Some(state) = self.per_pool.get_mut(pool) {
                state.freshen(&self.db, pool, self.settings.horizon).await?;
            }
        }
        Ok(())
    }

    async fn refresh(&mut self) -> Result<(), StoreError> {
        let now = clock::monotonic();
        if self.refreshed.is_some_and(|at| now.saturating_duration_since(at) < REFRESH) {
            return Ok(());
        }
        let pools = store::pool::list_for_dispatch(&self.db).await?;
        let (paused, open): (Vec<_>, Vec<_>) = pools.into_iter().partition(|pool| pool.paused);
        self.pools = open.into_iter().map(|pool| pool.name).collect();
        for pool in paused {
            let nothing = PoolTurn {
                stopped: StopReason::Paused,
                slots: 0,
                handed_out: 0,
                rate: 0.0,
                free_slots: 0,
            };
            self.per_pool.entry(pool.name).or_default().standing.stopped(nothing);
        }
        let stopped = self.tenants.refresh(&self.db, now).await?;
        for pool in &self.pools {
            self.per_pool.entry(pool.clone()).or_default().turns.forget_idle();
        }
        self.set_terms();
        self.take_back(&stopped).await?;
        self.keep(now).await?;
        self.refreshed = Some(now);
        Ok(())
    }

    /// Writes down how turns stand, a second after the last time.
    async fn keep(&mut self, now: Instant) -> Result<(), StoreError> {
        let passed = now.saturating_duration_since(*self.kept.get_or_insert(now));
        if passed < KEEP {
            return Ok(());
        }
        for (pool, state) in &mut self.per_pool {
            if let Some((of_pool, tenants)) =
                state.standing.word(passed, &state.turns, &self.running)
            {
                store::turn::keep(&self.db, pool, of_pool, &tenants).await?;
            }
        }
        self.kept = Some(now);
        Ok(())
    }

    /// Learns the terms of tenants that show work for the first time.
    async fn learn(&mut self, seen: &Seen, now: Instant) -> Result<(), StoreError> {
        let tenants = seen.strands.iter().map(|strand| strand.tenant);
        if let Some(stopped) = self.tenants.learn(&self.db, tenants, now).await? {
            self.set_terms();
            self.take_back(&stopped).await?;
        }
        // Read with each look: so a changed limit acts at once, and none is kept.
        let of_strand = |s: &StrandRows| s.key.clone().map(|(key, most)| ((s.tenant, key), most));
        self.running.set_key_limits(seen.strands.iter().filter_map(of_strand));
        Ok(())
    }

    fn set_terms(&mut self) {
        for state in self.per_pool.values_mut() {
            state.turns.set_weights(self.tenants.weights());
        }
        self.running.set_limits(self.tenants.limits());
    }

    /// Hints of tenants that may not run any more are void.
    async fn take_back(&self, tenants: &[TenantId]) -> Result<(), StoreError> {
        if tenants.is_empty() {
            return Ok(());
        }
        let queued = store::task::queued(&self.db, tenants, TAKEN_BACK).await?;
        let back = transition::dispatch_stale(&self.db, &queued).await?;
        info!(
            tenants = tenants.len(),
            tasks = back,
            "Tenants may not run now; {back} tasks were taken back"
        );
        Ok(())
    }

    /// Counts what tenants hold: first of all, and where one is at its limit, now and then.
    async fn count(&mut self) -> Result<(), StoreError> {
        let began = clock::monotonic();
        let wanted = match self.count_from {
            None => true,
            Some(from) => {
                (self.running.holds_back() || self.running.keys() > KEYS) && began >= from
            }
        };
        if wanted {
            self.running.counted(store::task::held(&self.db).await?);
            if self.count_from.is_none() || self.running.keys() > 0 {
                self.running.counted_keys(store::concurrency::held(&self.db).await?);
            }
            let took = began.elapsed();
            LAG.with(&["count"]).observe_duration(took);
            let rest = (took * COUNT_REST).clamp(COUNT_LEAST, COUNT_MOST);
            self.count_from = Some(clock::monotonic() + rest);
        }
        Ok(())
    }

    async fn dispatch(
        &mut self,
        epoch: LeaderEpoch,
        pool: &PoolName,
    ) -> Result<Dispatched, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let started = clock::monotonic();
        let (view, is_known) = state.view(&self.db, pool, self.settings.horizon).await?;
        let slots = batch_slots(view.load, self.settings.horizon);
        let most = u64::from(self.settings.max_batch).min(slots);
        if most == 0 {
            self.stopped(pool, StopReason::NoRoom, &view, (slots, 0));
            return Ok(Dispatched::Full);
        }
        state.take_over(&self.db, pool, view.total).await?;
        let Choice { now, picked, resources, unseen, lack } =
            self.choose(pool, &view, most, started).await?;
        let marked = self.mark(epoch, &picked).await;
        let state = self.per_pool.entry(pool.clone()).or_default();
        if marked.is_err() {
            // What a mark without an answer has handed out counts in `running` until the next count.
            picked.iter().for_each(|pick| state.turns.undo(pick));
            state.room = None;
        }
        let Some(epochs) = marked? else {
            self.leader.lost();
            return Ok(Dispatched::All(0));
        };
        for pick in &picked {
            if epochs.contains_key(&pick.candidate.task) {
                state.turns.dispatched(now, pick);
            } else {
                // Cancelled or expired between the look and the mark.
                state.turns.undo(pick);
                self.running.undone(&pick.candidate);
            }
        }
        // In the order of their turns: that is how they are placed.
        let hints = hints(&picked, &epochs, &resources);
        state.standing.handed_out(hints.iter().map(|hint| hint.tenant));
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.room.iter_mut().for_each(|room| room.take(used));
        let reason = if used >= slots {
            StopReason::RoomUsed
        } else if used >= most {
            StopReason::BatchFull
        } else if self.running.holds_back() {
            StopReason::Limits
        } else if lack {
            StopReason::SizesLack
        } else {
            StopReason::NothingWaits
        };
        self.stopped(pool, reason, &view, (slots, used));
        let tasks = hints.len() as u64;
        if tasks > 0 {
            DISPATCHED.with(&[pool.as_str()]).inc_by(tasks);
            BATCH.with(&[pool.as_str()]).observe(tasks as f64);
            let per_message = per_message(hints.len(), &view, self.settings.hint_batch);
            self.publisher.publish(pool, &hints, per_message).await?;
            LAG.with(&["whole"]).observe_duration(started.elapsed());
        }
        Ok(match reason {
            // There may be more by now than was known.
            StopReason::RoomUsed if is_known => Dispatched::Most(tasks),
            StopReason::RoomUsed => Dispatched::Limited(tasks),
            StopReason::BatchFull => Dispatched::Most(tasks),
            // Somebody has more than was looked at, or may have.
            _ if unseen && tasks > 0 => Dispatched::Most(tasks),
            _ if unseen => Dispatched::Limited(0),
            _ => Dispatched::All(tasks),
        })
    }

    /// Looks at what may have its turn, and picks `most` slots of it.
    async fn choose(
        &mut self,
        pool: &PoolName,
        view: &PoolView,
        most: u64,
        started: Instant,
    ) -> Result<Choice, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let few = match state.backlog.few() {
            Some(few) => all_ready(&self.db, pool, few, view.largest, &view.lacks).await?,
            None => None,
        };
        let (plan, seen) = if let Some(seen) = few {
            (Plan::of_all(), seen)
        } else {
            let plan = state.backlog.plan(state.turns.next(), most, &self.running);
            let seen = candidates(&self.db, pool, plan.look(view)).await?;
            (plan, seen)
        };
        LAG.with(&["choose"]).observe_duration(started.elapsed());
        self.learn(&seen, started).await?;
        let now = seen.now;
        let rows = seen.strands.iter().flat_map(|strand| &strand.rows);
        let resources = rows.map(|row| (row.task, row.resources)).collect();
        let lack = seen.strands.iter().any(|strand| strand.lacks_room);
        let state = self.per_pool.entry(pool.clone()).or_default();
        let by_tenant = state.backlog.seen(&plan, seen);
        state.see(now, by_tenant, view.total);
        let picked = state.turns.pick(now, most, &mut self.running);
        let goes_on = state.backlog.goes_on(picked.len());
        let passed_over = state.turns.was_passed_over();
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.backlog.saw_too_little(passed_over && used < most / 2);
        let unseen = passed_over || !state.backlog.is_all(&plan);
        Ok(Choice { now, picked, resources, unseen: unseen && goes_on, lack })
    }

    fn stopped(&mut self, pool: &PoolName, stopped: StopReason, view: &PoolView, of: (u64, u64)) {
        STOPPED.with(&[pool.as_str(), stopped.as_str()]).inc();
        let turn = PoolTurn {
            stopped,
            slots: of.0,
            handed_out: of.1,
            rate: view.load.completed_slots_per_second,
            free_slots: view.load.free_slots,
        };
        self.per_pool.entry(pool.clone()).or_default().standing.stopped(turn);
    }

    /// Marks what was picked as queued: each task's dispatch. `None`: another leads.
    async fn mark(
        &mut self,
        epoch: LeaderEpoch,
        picked: &[Pick],
    ) -> Result<Option<HashMap<TaskId, i32>>, StoreError> {
        if picked.is_empty() {
            return Ok(Some(HashMap::new()));
        }
        let key = |pick: &Pick| (pick.candidate.tenant, pick.candidate.task);
        let keys: Vec<_> = picked.iter().map(key).collect();
        let (node, age) = (self.leader.node(), self.settings.sweep_age);
        let marked = transition::dispatched(&self.db, node, epoch, &keys, age).await;
        if marked.as_ref().is_err_and(StoreError::outcome_unknown) {
            // It may take effect even after the next count, which would not know of it.
            self.leader.renounce();
        }
        let Some(marked) = marked? else { return Ok(None) };
        Ok(Some(marked.iter().map(|m| (m.task, m.dispatch_epoch)).collect()))
    }
}

impl Dispatched {
    const fn tasks(self) -> u64 {
        match self {
            Self::Full => 0,
            Self::Most(tasks) | Self::Limited(tasks) | Self::All(tasks) => tasks,
        }
    }

    /// The next look, where nothing wakes the batcher before it; `None`: whenever the timer says.
    const fn again(self) -> Option<Duration> {
        match self {
            Self::Full => Some(FULL),
            Self::Most(_) => Some(Duration::ZERO),
            Self::Limited(_) => Some(LIMITED),
            Self::All(_) => None,
        }
    }
}

/// One hint for each that was marked.
fn hints(
    picked: &[Pick],
    epochs: &HashMap<TaskId, i32>,
    resources: &HashMap<TaskId, Resources>,
) -> Vec<Hint> {
    let hint = |pick: &Pick| {
        let candidate = &pick.candidate;
        Some(Hint {
            tenant: candidate.tenant,
            task: candidate.task,
            dispatch_epoch: *epochs.get(&candidate.task)?,
            resources: *resources.get(&candidate.task)?,
            start_deadline_unix_ms: candidate.start_deadline.timestamp_millis(),
        })
    };
    picked.iter().filter_map(hint).collect()
}

/// Two messages for each resource manager with room, so that each gets its part, and one where it is alone, which claims them all at
/// once; never more in one than the one with least room can place at once, and never more than `most`.
fn per_message(hints: usize, view: &PoolView, most: usize) -> usize {
    let messages = if view.owners == 1 { 1 } else { view.owners * 2 };
    let even = hints.div_ceil(messages);
    let room = usize::try_from(view.least_room).unwrap_or(usize::MAX);
    even.min(room).clamp(1, most.max(1))
}
