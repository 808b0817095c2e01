//! Looks at all followed tasks of the process together, and tells each stream when something has changed.
//!
//! One listener for wake-ups, one statement for each tenant that follows anything, at most every 25 ms and at least every
//! 200 ms. While nobody follows, nothing is asked. A failed look is no news: the next one tells.

use bus::{Bus, Topic};
use domain::id::{TaskId, TenantId};
use futures::StreamExt;
use parking_lot::Mutex;
use runtime::clock::{monotonic, sleep};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::connect::ApiDb;
use store::output::{Pulse, pulses};
use tokio::sync::{Notify, watch};

/// The price of a lost wake-up.
const POLL: Duration = Duration::from_millis(200);
/// Wake-ups of all executors come as one: a busy installation raises hundreds a second.
const PAUSE: Duration = Duration::from_millis(25);
/// Tenants looked at side by side: they must leave connections to requests.
const AT_ONCE: usize = 2;
/// Tasks of one statement.
const GROUP: usize = 200;

/// What a stream hears: the latest pulse of its task, `None` before the first look.
pub(crate) type Pulses = watch::Receiver<Option<Pulse>>;

type Followed = HashMap<(TenantId, TaskId), watch::Sender<Option<Pulse>>>;

/// Who follows what. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hub {
    followed: Arc<Mutex<Followed>>,
    joined: Arc<Notify>,
}

impl Hub {
    /// The pulses of a task from now on.
    pub(crate) fn follow(&self, tenant: TenantId, task: TaskId) -> Pulses {
        let mut followed = self.followed.lock();
        let sender = followed.entry((tenant, task)).or_insert_with(|| watch::channel(None).0);
        let mut pulses = sender.subscribe();
        // One that was told to others is news to this one.
        pulses.mark_changed();
        self.joined.notify_one();
        pulses
    }

    /// Looks until the shutdown.
    pub(crate) async fn run(self, db: ApiDb, bus: Bus, shutdown: Shutdown) {
        let wakeups = bus.wakeups(&[Topic::Output]);
        while !shutdown.is_cancelled() {
            let idle = self.followed.lock().is_empty();
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.joined.notified() => {}
                _ = wakeups.next(), if !idle => {}
                () = sleep(POLL), if !idle => {}
            }
            let began = monotonic();
            self.look(&db).await;
            shutdown.sleep(PAUSE.saturating_sub(began.elapsed())).await;
        }
    }

    /// One look at everything that is followed.
    async fn look(&self, db: &ApiDb) {
        let mut of_tenant: HashMap<TenantId, Vec<TaskId>> = HashMap::new();
        {
            let mut followed = self.followed.lock();
            followed.retain(|_, sender| sender.receiver_count() > 0);
            for (tenant, task) in followed.keys() {
                of_tenant.entry(*tenant).or_default().push(*task);
            }
        }
        let groups: Vec<(TenantId, Vec<TaskId>)> = of_tenant
            .into_iter()
            .flat_map(|(tenant, tasks)| {
                let groups: Vec<_> = tasks.chunks(GROUP).map(|g| (tenant, g.to_vec())).collect();
                groups
            })
            .collect();
        futures::stream::iter(groups)
            .for_each_concurrent(AT_ONCE, |(tenant, tasks)| async move {
                match pulses(db, &TenantScope::of_role(tenant), &tasks).await {
                    Ok(found) => self.tell(tenant, found),
                    Err(error) => {
                        let error = ErrorChain(&error).to_string();
                        tracing::debug!(error, "Followed tasks cannot be looked at: {error}");
                    }
                }
            })
            .await;
    }

    fn tell(&self, tenant: TenantId, found: Vec<Pulse>) {
        let followed = self.followed.lock();
        for pulse in found {
            if let Some(sender) = followed.get(&(tenant, pulse.task)) {
                sender.send_if_modified(|known| {
                    let news = *known != Some(pulse);
                    *known = Some(pulse);
                    news
                });
            }
        }
    }
}
