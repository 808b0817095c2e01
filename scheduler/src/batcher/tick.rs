//! One tick of the batcher: hands out what may go, pool by pool, and keeps what it knows of pools, tenants and limits true.
//!
//! Woken by submits and by room that appears, and by a timer behind them. A tick rests a little for each task it dispatched, so that
//! under load batches grow instead of ticks, and a lone task delays nobody.

mod dispatch;

use super::charging::Charging;
use super::pool::PoolState;
use super::publish::Publisher;
use super::rest::{MANY, Pace, rest_after};
use super::tenants::Tenants;
use crate::leader::Leader;
use crate::metrics::LAG;
use bus::{Bus, ConnectionState};
use domain::batch::{Running, StopReason};
use domain::id::{PoolName, TenantId};
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
use store::task::{Seen, StrandRows, transition};
use store::turn::PoolTurn;
use tracing::info;

/// How old the list of pools and the terms of tenants may be: with the longest rest of a tick and what waits in the
/// broker, a change acts within a second.
const REFRESH: Duration = Duration::from_millis(500);
/// So old terms are read before anything is handed out: ticks come rarely, or the last ones could not read them.
const STALE: Duration = Duration::from_millis(700);
/// How often turns are written down for whoever takes over.
const KEEP: Duration = Duration::from_secs(1);
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
        // Of a later epoch nothing is known that this one waits for.
        let leader = Arc::clone(&self.leader);
        leader.under(epoch, self.prepare()).await?;
        let began = clock::monotonic();
        let since = began - self.began.replace(began).unwrap_or(began);
        let dispatched = self.dispatch_all(epoch).await;
        if self.leader.epoch() != Some(epoch) {
            // Whoever leads now writes down how turns stand.
            return dispatched.map(|(done, _)| TickOutcome::idle(done));
        }
        // After what waits was handed out: nobody waits for these. And where that failed, too: a pause may be the remedy.
        leader.under(epoch, self.catch_up()).await?;
        let (done, mut again) = dispatched?;
        leader.under(epoch, self.freshen()).await?;
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

    /// What must be known before anything is handed out.
    async fn prepare(&mut self) -> Result<(), StoreError> {
        if self.refreshed.is_none() {
            // What the batcher before has handed out is not charged yet: these ends are not of what this one hands out.
            self.hear().await?;
        }
        if self.refreshed.is_none_or(|at| at.elapsed() >= STALE) {
            self.refresh().await?;
        }
        self.count().await
    }

    /// What may be known later.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let heard = self.hear().await;
        self.refresh().await?;
        heard
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
}
