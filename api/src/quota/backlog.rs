//! Room in the tenants' backlogs.
//!
//! Asked before each submit is stored. The database is asked at most once a second for each tenant, by one request, while the
//! others go on with what is known; so this costs no statement of its own on the way of a submit. Several processes each know
//! what the others have stored a second ago: together they may pass the limit by what one second brings.

use super::ledger::{Age, Ledger};
use crate::auth::Caller;
use crate::problem::{Code, Problem};
use domain::id::TenantId;
use domain::plan::Quota;
use runtime::clock::monotonic;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::SubmitDb;
use store::tenant::Holding;
use tracing::{info, warn};

/// Tenants that are remembered; with more, those that were idle for a while are forgotten.
const TENANTS: usize = 10_000;
const IDLE: Duration = Duration::from_secs(60);
/// A quota is nearly used up from this part of it on, and not any more below the other.
const NEARLY: f64 = 0.8;
const NOT_ANY_MORE: f64 = 0.7;

/// All tenants' backlogs as this process knows them.
#[derive(Debug)]
pub(crate) struct Backlog {
    db: SubmitDb,
    accounts: Mutex<HashMap<TenantId, Arc<Account>>>,
}

#[derive(Debug, Default)]
struct Account {
    ledger: Mutex<Ledger>,
    asking: tokio::sync::Mutex<()>,
    /// On which side of the line each quota was said to be.
    above: Mutex<HashMap<Quota, bool>>,
}

impl Account {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room that was given. Say what became of it; dropped without a word it counts as used until the next count.
#[derive(Debug)]
pub(crate) struct Room {
    account: Arc<Account>,
    tasks: u64,
    used: u64,
    settled: bool,
}

impl Room {
    /// For how many tasks there is room.
    pub(crate) const fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Tasks that were in the backlog before, as far as this process knows.
    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    /// `stored` of the tasks are new in the backlog.
    pub(crate) fn settle(mut self, stored: u64) {
        self.settled = true;
        self.account.ledger().settle(self.tasks, stored);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if !self.settled {
            self.account.ledger().settle(self.tasks, self.tasks);
        }
    }
}

impl Backlog {
    pub(crate) fn new(db: SubmitDb) -> Self {
        Self { db, accounts: Mutex::default() }
    }

    /// Makes room for up to `wanted` tasks of the caller's tenant.
    ///
    /// # Errors
    /// When nothing is known of the tenant and the database gives no answer.
    pub(crate) async fn room(&self, caller: &Caller, wanted: u64) -> Result<Room, Problem> {
        let account = self.look(caller).await?;
        let (used, tasks) = {
            let mut ledger = account.ledger();
            (ledger.backlog(), ledger.admit(wanted, caller.limits()))
        };
        Ok(Room { account, tasks, used, settled: false })
    }

    /// What the caller's tenant holds, as of a moment ago.
    ///
    /// # Errors
    /// As [`Self::room`].
    pub(crate) async fn holding(&self, caller: &Caller) -> Result<Holding, Problem> {
        let account = self.look(caller).await?;
        let ledger = account.ledger();
        Ok(Holding { backlog: ledger.backlog(), ..ledger.holding() })
    }

    async fn look(&self, caller: &Caller) -> Result<Arc<Account>, Problem> {
        let account = self.account(caller.tenant());
        let age = account.ledger().age(monotonic());
        let asking = match age {
            Age::Fresh => None,
            // One request asks; meanwhile the others go on with what is known.
            Age::Due => account.asking.try_lock().ok(),
            Age::Gone => Some(account.asking.lock().await),
        };
        if asking.is_some() && account.ledger().age(monotonic()) != Age::Fresh {
            self.count(caller, &account).await?;
        }
        drop(asking);
        Ok(account)
    }

    async fn count(&self, caller: &Caller, account: &Account) -> Result<(), Problem> {
        let (limits, scope) = (caller.limits(), caller.scope());
        let counting = account.ledger().begin(monotonic());
        let most = u64::from(limits.backlog) + 1;
        match store::tenant::holding(&self.db, &scope, most).await {
            Ok(holding) => {
                account.ledger().counted(counting, monotonic(), holding, limits);
                self.warn(caller, account, holding).await;
                Ok(())
            }
            Err(error) if account.ledger().failed(monotonic()) => {
                warn!(tenant.id = %caller.tenant(), %error, "A backlog cannot be counted; the last count serves");
                Ok(())
            }
            Err(error) => {
                let detail = "Your plan's quota cannot be checked at the moment.";
                Err(Problem::new(Code::of_store(&error), detail).caused_by(&error))
            }
        }
    }

    /// Tells the tenant where a quota is nearly used up; the database sees to it that it is told once.
    async fn warn(&self, caller: &Caller, account: &Account, holding: Holding) {
        for (quota, used) in
            [(Quota::Backlog, holding.backlog), (Quota::RunningTasks, holding.running_tasks)]
        {
            let limit = caller.limits().of(quota);
            let before = account.above_of(quota);
            let (nearly, still) =
                (at_least(used, limit, NEARLY), at_least(used, limit, NOT_ANY_MORE));
            let above = nearly || (still && before == Some(true));
            // Between the lines a process that knows nothing yet says nothing.
            if before == Some(above) || (before.is_none() && still && !nearly) {
                continue;
            }
            match self.level(caller, quota, (used, limit), above).await {
                Ok(()) => account.set_above(quota, above),
                Err(error) => warn!(%error, "The level of a quota cannot be written down"),
            }
        }
    }

    async fn level(
        &self,
        caller: &Caller,
        quota: Quota,
        (used, limit): (u64, u64),
        above: bool,
    ) -> Result<(), StoreError> {
        let scope = caller.scope();
        if store::tenant::quota_level(&self.db, &scope, quota, (used, limit), above).await? {
            info!(tenant.id = %caller.tenant(), %quota, used, limit, "Tenant `{}` has used {used} of {limit} of `{quota}`", caller.tenant());
        }
        Ok(())
    }

    fn account(&self, tenant: TenantId) -> Arc<Account> {
        let now = monotonic();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= TENANTS && !accounts.contains_key(&tenant) {
            let idle = |account: &Arc<Account>| {
                let used = account.ledger().used_at;
                Arc::strong_count(account) == 1
                    && used.is_none_or(|at| now.saturating_duration_since(at) > IDLE)
            };
            accounts.retain(|_, account| !idle(account));
        }
        let account = Arc::clone(accounts.entry(tenant).or_default());
        account.ledger().used_at = Some(now);
        account
    }
}

fn at_least(used: u64, limit: u64, part: f64) -> bool {
    used as f64 >= limit as f64 * part
}

impl Account {
    fn above_of(&self, quota: Quota) -> Option<bool> {
        self.above.lock().unwrap_or_else(PoisonError::into_inner).get(&quota).copied()
    }

    fn set_above(&self, quota: Quota, above: bool) {
        self.above.lock().unwrap_or_else(PoisonError::into_inner).insert(quota, above);
    }
}
