//! One tick of the batcher: dispatches tasks, pool by pool, and then refreshes its copies of pools,
//! terms and limits.
//!
//! Woken by submits and by room that appears, and by a timer behind them: see `next_tick`. The
//! rule: what a dispatch does not need is read after it.

mod dispatch;

use super::charging::Charging;
use super::next_tick::{NextTick, TickSummary, WaitsFor};
use super::pool::PoolState;
use super::publish::Publisher;
use super::tenants::Tenants;
use crate::leader::Leader;
use crate::metrics::LAG;
use bus::{Bus, ConnectionState};
use domain::batch::{Running, StopReason};
use domain::epoch::Epoch;
use domain::id::{PoolName, TenantId};
use runtime::clock::{self, Instant};
use runtime::config::SchedulerConfig;
use runtime::tasks::TaskGroup;
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::{ReadyStrand, Selection, transition};
use store::turn::PoolTurn;
use tracing::info;

/// Refresh interval of pools and terms: with the longest pause and the queue in the broker, a change takes effect
/// within a second.
const REFRESH: Duration = Duration::from_millis(500);
/// Terms of this age are read before a dispatch: ticks are rare, or recent reads failed.
const STALE: Duration = Duration::from_millis(700);
/// Interval at which the fairness state is stored.
const STORE_TURNS: Duration = Duration::from_secs(1);
/// While tasks wait for a limit, running tasks are counted again after this many times the duration of a count, within
/// these bounds.
const COUNT_PAUSE: u32 = 20;
const COUNT_PAUSE_MIN: Duration = Duration::from_millis(20);
const COUNT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// With more concurrency keys in memory, a count drops unused ones.
const MAX_KEYS: usize = 50_000;
/// Queued tasks of suspended tenants that become ready at once; the sweep returns the rest.
const MAX_TAKEN_BACK: i64 = 5000;
/// Back-off after the broker refused hints.
const REFUSED_BACKOFF: Duration = Duration::from_millis(250);

pub(crate) struct Batcher {
    db: SchedulerDb,
    bus: Bus,
    leader: Arc<Leader>,
    settings: SchedulerConfig,
    led: Option<Epoch>,
    pools: Vec<PoolName>,
    refreshed: Option<Instant>,
    turns_stored: Option<Instant>,
    per_pool: HashMap<PoolName, PoolState>,
    tenants: Tenants,
    running: Running,
    charging: Charging,
    /// When running tasks may be counted again; `None`: before the next dispatch.
    count_from: Option<Instant>,
    publisher: Publisher,
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
            turns_stored: None,
            per_pool: HashMap::new(),
            tenants: Tenants::default(),
            running: Running::default(),
            charging: Charging::default(),
            count_from: None,
            publisher,
        }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.publisher.was_refused() {
            clock::sleep(REFUSED_BACKOFF).await;
        }
        let Some(epoch) = self.leader.epoch() else {
            self.led = None;
            return Ok(TickOutcome::idle(0));
        };
        if self.led != Some(epoch) {
            // Rates and fairness state of an earlier term are out of date.
            self.per_pool.clear();
            (self.refreshed, self.turns_stored, self.count_from) = (None, None, None);
            self.charging = Charging::default();
            self.led = Some(epoch);
        }
        if *self.bus.connection().borrow() != ConnectionState::Connected {
            // Marking tasks only to return them would cost two row versions each, every tick.
            return Ok(TickOutcome::idle(0));
        }
        let began = clock::monotonic();
        let leader = Arc::clone(&self.leader);
        leader.under(epoch, self.prepare()).await?;
        let dispatched = self.dispatch_all(epoch).await;
        if self.leader.epoch() != Some(epoch) {
            // The new leader stores its own state.
            return dispatched.map(|(tasks, _)| TickOutcome::idle(tasks));
        }
        // No task waits for these. They also run after a failed dispatch: they may read the pause that ends the
        // failures.
        leader.under(epoch, self.catch_up()).await?;
        let (tasks, waits_for) = dispatched?;
        leader.under(epoch, self.refresh_room()).await?;
        let now = clock::monotonic();
        let count_from = self.count_from.filter(|_| self.running.holds_back());
        let count_in = count_from.map(|at| at.saturating_duration_since(now));
        let tick = TickSummary { took: now - began, tasks, waits_for, count_in };
        let NextTick { pause, timer } = NextTick::after(tick, self.settings.tick_busy);
        if !pause.is_zero() {
            // A sleep, because a wake-up would end the ticker's pause.
            clock::sleep(pause).await;
        }
        Ok(match timer {
            None => TickOutcome::idle(tasks),
            Some(Duration::ZERO) => TickOutcome::now(tasks),
            Some(timer) => TickOutcome::after(timer, tasks),
        })
    }

    /// Reads what a dispatch needs.
    async fn prepare(&mut self) -> Result<(), StoreError> {
        if self.refreshed.is_none() {
            // These ends belong to dispatches of the earlier batcher, which are not charged here yet.
            self.update_charges().await?;
        }
        if self.refreshed.is_none_or(|at| at.elapsed() >= STALE) {
            self.refresh().await?;
        }
        self.count_running().await
    }

    /// Reads what can wait until after the dispatch.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let charged = self.update_charges().await;
        self.refresh().await?;
        charged
    }

    /// Dispatches in each pool; returns the number of tasks and what the next tick waits for.
    async fn dispatch_all(&mut self, epoch: Epoch) -> Result<(u64, WaitsFor), StoreError> {
        let (mut tasks, mut waits_for) = (0, WaitsFor::WakeUp);
        for pool in self.pools.clone() {
            let dispatched = self.dispatch(epoch, &pool).await?;
            tasks += dispatched.tasks;
            waits_for = waits_for.min(dispatched.waits_for);
        }
        Ok((tasks, waits_for))
    }

    /// Corrects charges to the use of finished attempts.
    async fn update_charges(&mut self) -> Result<(), StoreError> {
        let turns = self.per_pool.values_mut().map(|state| &mut state.turns);
        self.charging.update(&self.db, turns).await
    }

    /// Reads the room of pools whose estimate is old.
    async fn refresh_room(&mut self) -> Result<(), StoreError> {
        for pool in &self.pools {
            if let Some(state) = self.per_pool.get_mut(pool) {
                state.refresh_room(&self.db, pool, self.settings.horizon).await?;
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
            let paused = PoolTurn {
                stopped: StopReason::Paused,
                slots: 0,
                handed_out: 0,
                rate: 0.0,
                free_slots: 0,
            };
            self.per_pool.entry(pool.name).or_default().standing.set_pool(paused);
        }
        let stopped = self.tenants.refresh(&self.db, now).await?;
        for pool in &self.pools {
            self.per_pool.entry(pool.clone()).or_default().turns.forget_idle();
        }
        self.set_terms();
        self.take_back(&stopped).await?;
        self.store_turns(now).await?;
        self.refreshed = Some(now);
        Ok(())
    }

    /// Stores the fairness state, once a second.
    async fn store_turns(&mut self, now: Instant) -> Result<(), StoreError> {
        let passed = now.saturating_duration_since(*self.turns_stored.get_or_insert(now));
        if passed < STORE_TURNS {
            return Ok(());
        }
        for (pool, state) in &mut self.per_pool {
            if let Some((of_pool, tenants)) =
                state.standing.turns_to_store(passed, &state.turns, &self.running)
            {
                store::turn::keep(&self.db, pool, of_pool, &tenants).await?;
            }
        }
        self.turns_stored = Some(now);
        Ok(())
    }

    /// Reads terms of new tenants and updates the limits of concurrency keys.
    async fn read_terms(&mut self, selection: &Selection, now: Instant) -> Result<(), StoreError> {
        let tenants = selection.strands.iter().map(|strand| strand.tenant);
        if let Some(stopped) = self.tenants.read_new(&self.db, tenants, now).await? {
            self.set_terms();
            self.take_back(&stopped).await?;
        }
        // Read with each selection: so a changed limit takes effect at once.
        let of_strand = |s: &ReadyStrand| s.key.clone().map(|(key, most)| ((s.tenant, key), most));
        self.running.set_key_limits(selection.strands.iter().filter_map(of_strand));
        Ok(())
    }

    fn set_terms(&mut self) {
        for state in self.per_pool.values_mut() {
            state.turns.set_weights(self.tenants.weights());
        }
        self.running.set_limits(self.tenants.limits());
    }

    /// Returns queued tasks of tenants that may no longer run to `ready`.
    async fn take_back(&self, tenants: &[TenantId]) -> Result<(), StoreError> {
        if tenants.is_empty() {
            return Ok(());
        }
        let queued = store::task::queued(&self.db, tenants, MAX_TAKEN_BACK).await?;
        let back = transition::dispatch_stale(&self.db, &queued).await?;
        info!(
            tenants = tenants.len(),
            tasks = back,
            "Tenants may not run now; {back} tasks were taken back"
        );
        Ok(())
    }

    /// Counts running and queued tasks: at the start, and repeatedly while tasks wait for a limit.
    async fn count_running(&mut self) -> Result<(), StoreError> {
        let began = clock::monotonic();
        let wanted = match self.count_from {
            None => true,
            Some(from) => {
                (self.running.holds_back() || self.running.keys() > MAX_KEYS) && began >= from
            }
        };
        if wanted {
            self.running.counted(store::task::held(&self.db).await?);
            if self.count_from.is_none() || self.running.keys() > 0 {
                self.running.counted_keys(store::concurrency::held(&self.db).await?);
            }
            let took = began.elapsed();
            LAG.with(&["count"]).observe_duration(took);
            let pause = (took * COUNT_PAUSE).clamp(COUNT_PAUSE_MIN, COUNT_PAUSE_MAX);
            self.count_from = Some(clock::monotonic() + pause);
        }
        Ok(())
    }
}
