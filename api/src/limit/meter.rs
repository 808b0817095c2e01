//! One tenant's meter: its state under a lock that is never held while anything is waited for.
//!
//! Every request of a tenant holds its meter from authentication to its answer, which shows what is left. Of many submissions that find it
//! empty one asks Redis, for all of them; the others wait for that answer.

use super::admission::Rates;
use super::counting::{Counted, Way};
use super::headers::Policy;
use super::moment::Moment;
use super::shared::{Ask, Lease};
use super::state::{State, Take};
use domain::id::TenantId;
use domain::rate::Hour;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::rate::HourlyUse;
use tokio::sync::MutexGuard as Turn;

/// A tenant's meter.
#[derive(Debug)]
pub(crate) struct Meter {
    tenant: TenantId,
    state: Mutex<State>,
    policy: Mutex<Option<Policy>>,
    leasing: tokio::sync::Mutex<()>,
    /// Tasks of those who wait for a lease.
    waiting: AtomicU64,
}

/// Tasks that wait for a lease, until this is dropped.
pub(super) struct Waiting<'a> {
    meter: &'a Meter,
    tasks: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.meter.waiting.fetch_sub(self.tasks, Ordering::Relaxed);
    }
}

/// What a tenant may still do, for headers and reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    pub rates: Rates,
    /// Tasks that may be submitted now.
    pub tokens: u64,
    /// What of the burst is used, by all processes.
    pub used: u64,
    /// Until nothing is missing.
    pub full_in: Duration,
    /// Of the hour, where it has a limit.
    pub hour: Option<HourLeft>,
}

/// What is left of an hour.
#[derive(Debug, Clone, Copy)]
pub(super) struct HourLeft {
    /// Tasks that may be submitted yet.
    pub tasks: u64,
    /// Tasks that were, by all processes.
    pub used: u64,
    /// Until it ends.
    pub rest: Duration,
}

impl Meter {
    pub(super) fn new(tenant: TenantId, rates: Rates, counted: Counted, now: &Moment) -> Self {
        Self {
            tenant,
            state: Mutex::new(State::new(rates, counted, now)),
            policy: Mutex::default(),
            leasing: tokio::sync::Mutex::default(),
            waiting: AtomicU64::new(0),
        }
    }

    pub(super) const fn tenant(&self) -> TenantId {
        self.tenant
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tenant's plan as of this request.
    pub(super) fn set_rates(&self, rates: Rates, now: impl FnOnce() -> Moment) {
        let mut state = self.state();
        if state.rates != rates {
            state.set_rates(rates, &now());
        }
    }

    /// Counts what is wanted, once a submission.
    pub(super) fn wants(&self, tasks: u64, now: &Moment) {
        self.state().wants(tasks, now);
    }

    /// Whether the hour's checkpoint must be read before anything is decided.
    pub(super) fn is_to_restore(&self) -> bool {
        let state = self.state();
        state.rates.per_hour > 0 && !state.restored
    }

    pub(super) fn take(&self, tasks: u64, counted: Counted, now: &Moment) -> Take {
        self.state().take(tasks, counted, now)
    }

    /// Takes a look-up of a key; false where there were too many.
    pub(super) fn look_up(&self, now: &Moment) -> bool {
        self.state().look_up(now)
    }

    /// Waits for its turn to lease, counted among those who wait meanwhile.
    pub(super) async fn turn(&self, tasks: u64) -> (Turn<'_, ()>, Waiting<'_>) {
        self.waiting.fetch_add(tasks, Ordering::Relaxed);
        let waiting = Waiting { meter: self, tasks };
        (self.leasing.lock().await, waiting)
    }

    /// A turn, where nobody has it.
    pub(super) fn free_turn(&self) -> Option<Turn<'_, ()>> {
        self.leasing.try_lock().ok()
    }

    /// What to ask of Redis for all who wait.
    pub(super) fn ask(&self, now: &Moment) -> Ask {
        self.state().ask(self.waiting.load(Ordering::Relaxed).max(1), now)
    }

    pub(super) fn leased(&self, ask: &Ask, lease: &Lease, now: &Moment) {
        self.state().leased(ask, lease, now);
    }

    pub(super) fn unanswered(&self, ask: &Ask) {
        self.state().unanswered(ask);
    }

    pub(super) fn give_back(&self, tasks: u64, counted: Counted, now: &Moment) {
        self.state().give_back(tasks, counted, now);
    }

    pub(super) fn idle(&self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.state().idle(counted, now)
    }

    pub(super) fn look(&self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.state().look(counted, now)
    }

    pub(super) fn all_back(&self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.state().all_back(counted, now)
    }

    pub(super) fn is_forgettable(&self, now: &Moment) -> bool {
        self.state().is_forgettable(now)
    }

    pub(super) fn restore(&self, hour: Hour, used: u64) {
        self.state().restore(hour, used);
    }

    /// What is to be written down, where there is an hourly limit and something was used.
    pub(super) fn to_write(&self, now: &Moment) -> Option<HourlyUse> {
        let state = self.state();
        let used = state.used_of_hour(now);
        let is_kept = state.rates.per_hour > 0 && used > 0;
        is_kept.then(|| HourlyUse { tenant: self.tenant, hour: now.hour(), used })
    }

    pub(super) fn left(&self, counted: Counted, now: &Moment) -> Left {
        let state = self.state();
        let (tokens, used, full_in) = state.left(now);
        let rates = state.rates;
        let hour = (rates.per_hour > 0).then(|| {
            let used = state.used_of_hour(now);
            let left = u64::from(rates.per_hour).saturating_sub(used);
            let share = match counted.way {
                Way::Alone { replicas } | Way::Local { replicas } => {
                    left / u64::from(replicas.max(1))
                }
                Way::Shared => left,
            };
            HourLeft { tasks: share, used, rest: now.hour().left(now.wall) }
        });
        Left { rates, tokens, used, full_in, hour }
    }

    /// The policy in words, made anew only when it changes.
    pub(super) fn policy(&self, rates: Rates, is_local: bool) -> Policy {
        let mut kept = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref().filter(|policy| policy.is_of(rates, is_local)) {
            Some(policy) => policy.clone(),
            None => kept.insert(Policy::new(rates, is_local)).clone(),
        }
    }
}
