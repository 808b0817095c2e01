//! Room in the tenants' backlogs.
//!
//! Asked before each submit is stored. The database is asked at most once a second for each tenant, by one request, while the
//! others go on with what is known; so this costs no statement of its own on the way of a submit. Counts have connections of their
//! own: one that takes long holds up no other tenant's submits. Several processes each know what the others have stored a second
//! ago: together they may pass the limit by what one second brings.

use super::ledger::{Age, Ledger};
use crate::auth::Caller;
use crate::problem::{Code, Problem};
use domain::id::TenantId;
use runtime::clock::monotonic;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::connect::CountDb;
use store::tenant::Holding;
use tracing::warn;

/// Tenants that are remembered; with more, those that were idle for a while are forgotten.
const TENANTS: usize = 10_000;
const IDLE: Duration = Duration::from_secs(60);

const UNKNOWN: &str = "Your plan's quota cannot be checked at the moment.";

/// All tenants' backlogs as this process knows them.
#[derive(Debug)]
pub(crate) struct Backlog {
    db: CountDb,
    accounts: Mutex<HashMap<TenantId, Arc<Account>>>,
}

#[derive(Debug, Default)]
struct Account {
    ledger: Mutex<Ledger>,
    asking: tokio::sync::Mutex<()>,
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
    pub(crate) fn new(db: CountDb) -> Self {
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
            Age::Fresh | Age::Away => None,
            // One request asks; meanwhile the others go on with what is known.
            Age::Due => account.asking.try_lock().ok(),
            Age::Gone => Some(account.asking.lock().await),
        };
        let age = account.ledger().age(monotonic());
        match age {
            Age::Due | Age::Gone if asking.is_some() => self.count(caller, &account).await?,
            Age::Away => return Err(Problem::new(Code::Unavailable, UNKNOWN)),
            Age::Fresh | Age::Due | Age::Gone => {}
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
                Ok(())
            }
            Err(error) if account.ledger().failed(monotonic()) => {
                warn!(tenant.id = %caller.tenant(), %error, "A backlog cannot be counted; the last count serves");
                Ok(())
            }
            Err(error) => Err(Problem::new(Code::of_store(&error), UNKNOWN).caused_by(&error)),
        }
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
