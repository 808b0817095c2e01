//! Polls the state of all followed tasks of the process together, and notifies each stream when something has changed.
//!
//! One listener for wake-ups; a poll at most every 25 ms and at least every 200 ms. While a tenant has a follower here, this process is a
//! consumer of its events: one statement per poll says which of its followed tasks have changed. Only those are read, and those that run,
//! whose output may have grown. All are read every 2 s, and in each poll of the first 10 s: statements that were under way when the
//! process became a consumer may have changed a task without an event, and a crash of Postgres may take back events that were read. While
//! nobody follows, nothing is asked. A failed poll changes nothing; the next one reads again.

use bus::{Bus, Topic};
use domain::id::{NodeId, TaskId, TenantId};
use futures::StreamExt;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic, sleep};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::connect::ApiDb;
use store::event::{self, Horizon};
use store::output::{Pulse, pulses};
use store::{StoreError, TenantScope};
use tokio::sync::{Notify, watch};

/// The price of a lost wake-up.
const POLL: Duration = Duration::from_millis(200);
/// Wake-ups of all executors come as one: a busy installation raises hundreds a second.
const PAUSE: Duration = Duration::from_millis(25);
/// Tenants polled side by side: they must leave connections to requests.
const AT_ONCE: usize = 2;
/// Tasks of one statement.
const GROUP: usize = 200;
/// For how long it is a consumer; renewed when a third of it is over.
const TERM: Duration = Duration::from_secs(60);
/// All followed tasks of a tenant are read so often, whatever the events say.
const READ_ALL: Duration = Duration::from_secs(2);
/// For so long after the first poll of a tenant, all of its followed tasks are read in each: longer than a statement that changes tasks
/// takes.
const BEGINNING: Duration = Duration::from_secs(10);

/// What a stream hears: the latest pulse of its task, `None` before the first poll.
pub(crate) type Pulses = watch::Receiver<Option<Pulse>>;

type Followed = HashMap<TenantId, HashMap<TaskId, watch::Sender<Option<Pulse>>>>;

/// Who follows what. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hub {
    followed: Arc<Mutex<Followed>>,
    joined: Arc<Notify>,
}

/// How far the polls of one tenant have come.
struct Progress {
    began: Instant,
    renewed: Option<Instant>,
    read_all: Instant,
    horizon: Option<Horizon>,
}

impl Hub {
    /// The pulses of a task from now on.
    pub(crate) fn follow(&self, tenant: TenantId, task: TaskId) -> Pulses {
        let mut followed = self.followed.lock();
        let of_tenant = followed.entry(tenant).or_default();
        let sender = of_tenant.entry(task).or_insert_with(|| watch::channel(None).0);
        let mut pulses = sender.subscribe();
        // One that was told to others is news to this one.
        pulses.mark_changed();
        self.joined.notify_one();
        pulses
    }

    /// Polls until the shutdown.
    pub(crate) async fn run(self, db: ApiDb, bus: Bus, shutdown: Shutdown) {
        let wakeups = bus.wakeups(&[Topic::Output]);
        let poller = Poller { db, hub: self, consumer: format!("live_{}", NodeId::fresh()) };
        let mut progress = HashMap::new();
        while !shutdown.is_cancelled() {
            let idle = poller.hub.followed.lock().is_empty();
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = poller.hub.joined.notified() => {}
                _ = wakeups.next(), if !idle => {}
                () = sleep(POLL), if !idle => {}
            }
            let began = monotonic();
            poller.poll(&mut progress).await;
            shutdown.sleep(PAUSE.saturating_sub(began.elapsed())).await;
        }
        for tenant in progress.into_keys() {
            poller.leave(tenant).await;
        }
    }

    /// All that is followed, without what nobody follows any more.
    fn tasks(&self) -> HashMap<TenantId, Vec<(TaskId, Option<Pulse>)>> {
        let mut followed = self.followed.lock();
        followed.retain(|_, tasks| {
            tasks.retain(|_, sender| sender.receiver_count() > 0);
            !tasks.is_empty()
        });
        let known = |tasks: &HashMap<TaskId, watch::Sender<Option<Pulse>>>| {
            tasks.iter().map(|(task, sender)| (*task, *sender.borrow())).collect()
        };
        followed.iter().map(|(tenant, tasks)| (*tenant, known(tasks))).collect()
    }

    fn tell(&self, tenant: TenantId, found: Vec<Pulse>) {
        let followed = self.followed.lock();
        let Some(tasks) = followed.get(&tenant) else { return };
        for pulse in found {
            if let Some(sender) = tasks.get(&pulse.task) {
                sender.send_if_modified(|known| {
                    let news = *known != Some(pulse);
                    *known = Some(pulse);
                    news
                });
            }
        }
    }
}

/// Polls the database for all streams of the process.
struct Poller {
    db: ApiDb,
    hub: Hub,
    /// The name under which it follows tenants.
    consumer: String,
}

impl Poller {
    /// One poll of everything that is followed.
    async fn poll(&self, progress: &mut HashMap<TenantId, Progress>) {
        let followed = self.hub.tasks();
        let left: Vec<_> =
            progress.keys().filter(|tenant| !followed.contains_key(tenant)).copied().collect();
        for tenant in left {
            progress.remove(&tenant);
            self.leave(tenant).await;
        }
        let due: Vec<_> = followed
            .into_iter()
            .map(|(tenant, tasks)| (tenant, tasks, progress.remove(&tenant)))
            .collect();
        let polled: Vec<_> = futures::stream::iter(due)
            .map(|(tenant, tasks, before)| async move {
                let mut progress = before.unwrap_or_else(Progress::begin);
                if let Err(error) = self.poll_tenant(tenant, &tasks, &mut progress).await {
                    let error = ErrorChain(&error).to_string();
                    tracing::debug!(error, "Followed tasks cannot be read: {error}");
                }
                (tenant, progress)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        progress.extend(polled);
    }

    /// One poll of what is followed of one tenant.
    async fn poll_tenant(
        &self,
        tenant: TenantId,
        tasks: &[(TaskId, Option<Pulse>)],
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let scope = TenantScope::of_role(tenant);
        if progress.renewed.is_none_or(|renewed| renewed.elapsed() > TERM / 3) {
            let now = monotonic();
            event::follow(&self.db, &scope, &self.consumer, TERM).await?;
            progress.renewed = Some(now);
        }
        // Read even where nothing waits: from an old place on, there would be ever more to read.
        let waiting: Vec<_> = tasks
            .iter()
            .filter(|(_, pulse)| pulse.is_some_and(|pulse| !pulse.state.is_leased()))
            .map(|(task, _)| *task)
            .collect();
        let changes = event::changes(&self.db, &scope, progress.horizon, &waiting).await?;
        let whole = progress.horizon.is_none()
            || progress.began.elapsed() < BEGINNING
            || progress.read_all.elapsed() > READ_ALL;
        // What runs may have written output, which is no event.
        let read: Vec<_> = tasks
            .iter()
            .map(|(task, _)| *task)
            .filter(|task| whole || !waiting.contains(task) || changes.tasks.contains(task))
            .collect();
        let now = monotonic();
        for group in read.chunks(GROUP) {
            self.hub.tell(tenant, pulses(&self.db, &scope, group).await?);
        }
        progress.horizon = changes.horizon;
        if whole {
            progress.read_all = now;
        }
        Ok(())
    }

    /// Is a consumer of this tenant's events no more. Where that cannot be said, its term ends by itself.
    async fn leave(&self, tenant: TenantId) {
        let scope = TenantScope::of_role(tenant);
        if let Err(error) = event::unfollow(&self.db, &scope, &self.consumer).await {
            let error = ErrorChain(&error).to_string();
            tracing::debug!(error, "A tenant is still named as followed: {error}");
        }
    }
}

impl Progress {
    fn begin() -> Self {
        let now = monotonic();
        Self { began: now, renewed: None, read_all: now, horizon: None }
    }
}
