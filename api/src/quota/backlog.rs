//! Room in the tenants' backlogs.
//!
//! Asked before each submit is stored. The database is asked at most once a second for each tenant, in the background, while
//! requests go on with what is known; so this costs no statement of its own on the way of a submit. The rule: a count that takes long,
//! or that the database does not answer, refuses nobody who was counted before, and holds a submit up for a second at most; no
//! tenant's count stands in the way of another's. Several processes each know what the others have stored a second ago: together they
//! may pass the limit by what one second brings.

use super::ledger::{Age, Ledger};
use crate::problem::{Code, Problem};
use domain::id::TenantId;
use identity::Caller;
use parking_lot::Mutex;
use runtime::clock::{monotonic, timeout};
use runtime::error_chain::ErrorChain;
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::connect::CountDb;
use store::tenant::Holding;
use tokio::sync::OwnedMutexGuard;
use tracing::warn;

/// Tenants that are remembered; with more, those that were idle for a while are forgotten.
const TENANTS: usize = 10_000;
const IDLE: Duration = Duration::from_secs(60);

/// The longest that a submit waits for a count.
const WAIT: Duration = Duration::from_secs(1);
/// The same of a request that asks for nothing else.
const ASKED_WAIT: Duration = Duration::from_secs(5);

/// All tenants' backlogs as this process knows them.
#[derive(Debug)]
pub(crate) struct Backlog {
    db: CountDb,
    tasks: TaskGroup,
    accounts: Mutex<HashMap<TenantId, Arc<Account>>>,
}

#[derive(Debug, Default)]
struct Account {
    ledger: Mutex<Ledger>,
    /// Held by the one count that is under way.
    counting: Arc<tokio::sync::Mutex<()>>,
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
        self.account.ledger.lock().settle(self.tasks, stored);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if !self.settled {
            self.account.ledger.lock().settle(self.tasks, self.tasks);
        }
    }
}

impl Backlog {
    pub(crate) fn new(db: CountDb, tasks: TaskGroup) -> Self {
        Self { db, tasks, accounts: Mutex::default() }
    }

    /// Makes room for up to `wanted` tasks of the caller's tenant.
    ///
    /// # Errors
    /// `unavailable` when there is no room for all before the tenant's first count.
    pub(crate) async fn room(&self, caller: &Caller, wanted: u64) -> Result<Room, Problem> {
        let account = self.look(caller).await;
        let (used, tasks) = {
            let mut ledger = account.ledger.lock();
            let (used, tasks) = (ledger.backlog(), ledger.admit(wanted, caller.limits()));
            if tasks < wanted && !ledger.is_counted() {
                ledger.settle(tasks, 0);
                return Err(not_counted());
            }
            (used, tasks)
        };
        Ok(Room { account, tasks, used, settled: false })
    }

    /// What the caller's tenant holds: counted now. Requests that come while a count runs share the next one. Where the count fails,
    /// or takes longer than a request may wait, the last one serves.
    ///
    /// # Errors
    /// `unavailable` before its first count.
    pub(crate) async fn holding(&self, caller: &Caller) -> Result<Holding, Problem> {
        let (account, asked_at) = (self.account(caller.tenant()), monotonic());
        let counted = async {
            loop {
                let turn = Arc::clone(&account.counting).lock_owned().await;
                if account.ledger.lock().was_tried_since(asked_at) {
                    break;
                }
                self.count_beside(caller, &account, turn);
            }
        };
        // Late or not, what is known by then is the answer.
        let _ = timeout(ASKED_WAIT, counted).await;
        let ledger = account.ledger.lock();
        if !ledger.is_counted() {
            return Err(not_counted());
        }
        Ok(Holding { backlog: ledger.backlog(), ..ledger.holding() })
    }

    /// The caller's tenant as it is known, counted anew where that is due. Waited for is only what is worth it.
    async fn look(&self, caller: &Caller) -> Arc<Account> {
        let account = self.account(caller.tenant());
        let age = account.ledger.lock().age(monotonic());
        if age != Age::Fresh {
            self.begin_count(caller, &account);
        }
        if age == Age::Gone && timeout(WAIT, account.counting.lock()).await.is_err() {
            let (now, mut ledger) = (monotonic(), account.ledger.lock());
            // Whoever comes next waits no more.
            if ledger.age(now) == Age::Gone {
                ledger.failed(now);
            }
        }
        account
    }

    /// Counts, unless that is under way, and goes on when the request that asked is over: otherwise requests that give up would
    /// each begin one anew, and none would ever end.
    fn begin_count(&self, caller: &Caller, account: &Arc<Account>) {
        let Ok(turn) = Arc::clone(&account.counting).try_lock_owned() else { return };
        if account.ledger.lock().age(monotonic()) == Age::Fresh {
            return;
        }
        self.count_beside(caller, account, turn);
    }

    fn count_beside(&self, caller: &Caller, account: &Arc<Account>, turn: OwnedMutexGuard<()>) {
        let (db, account, caller) = (self.db.clone(), Arc::clone(account), caller.clone());
        self.tasks.spawn_detached("api.count", async move {
            count(&db, &caller, &account).await;
            drop(turn);
        });
    }

    fn account(&self, tenant: TenantId) -> Arc<Account> {
        let now = monotonic();
        let mut accounts = self.accounts.lock();
        if accounts.len() >= TENANTS && !accounts.contains_key(&tenant) {
            let idle = |account: &Arc<Account>| {
                let used = account.ledger.lock().used_at;
                Arc::strong_count(account) == 1
                    && used.is_none_or(|at| now.saturating_duration_since(at) > IDLE)
            };
            accounts.retain(|_, account| !idle(account));
        }
        let account = Arc::clone(accounts.entry(tenant).or_default());
        account.ledger.lock().used_at = Some(now);
        account
    }
}

async fn count(db: &CountDb, caller: &Caller, account: &Account) {
    let counting = account.ledger.lock().begin(monotonic());
    let most = u64::from(caller.limits().backlog) + 1;
    match store::tenant::holding(db, &caller.scope(), most).await {
        Ok(holding) => {
            account.ledger.lock().counted(counting, monotonic(), holding, caller.limits());
        }
        Err(error) => {
            account.ledger.lock().failed(monotonic());
            let tenant = caller.tenant();
            warn!(tenant.id = %tenant, error = %ErrorChain(&error), "The backlog of `{tenant}` cannot be counted; what is known of it serves");
        }
    }
}

fn not_counted() -> Problem {
    Problem::new(
        Code::Unavailable,
        "Your use of the plan's quotas is being counted; try again later.",
    )
}
