//! Which pools there are, to whom they are granted, and what their executors have, as of a second ago.
//!
//! Asked by every submit, so that a task for a pool that does not exist, or is not granted to its tenant, is refused instead of waiting
//! forever. While the database is away the last known list serves: pools do not vanish.

use crate::problem::Problem;
use parking_lot::RwLock;
use runtime::clock::{Instant, monotonic};
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use store::pool::SubmitPool;
use tokio::sync::Mutex;

const TTL: Duration = Duration::from_secs(1);
/// So old, it is read again beside the request that uses it, so that none has to wait for it.
const RENEWED_AT: Duration = Duration::from_millis(750);

type CachedPools = Option<(Instant, Arc<[SubmitPool]>)>;

/// The cached list.
#[derive(Debug)]
pub(crate) struct Pools {
    cached: Arc<Cached>,
    tasks: TaskGroup,
}

#[derive(Debug)]
struct Cached {
    db: SubmitDb,
    known: RwLock<CachedPools>,
    asking: Arc<Mutex<()>>,
}

impl Pools {
    pub(crate) fn new(db: SubmitDb, tasks: TaskGroup) -> Self {
        let cached = Cached { db, known: RwLock::new(None), asking: Arc::default() };
        Self { cached: Arc::new(cached), tasks }
    }

    /// The pools.
    ///
    /// # Errors
    /// When none are known yet and the database gives no answer.
    pub(crate) async fn current(&self) -> Result<Arc<[SubmitPool]>, Problem> {
        let cached = &self.cached;
        let known = cached.known();
        if let Some((at, pools)) = known.as_ref().filter(|(at, _)| at.elapsed() < TTL) {
            if at.elapsed() >= RENEWED_AT {
                self.renew();
            }
            return Ok(Arc::clone(pools));
        }
        // One request asks; meanwhile the others go on with what is known.
        match (cached.asking.try_lock(), known) {
            (Err(_), Some((_, pools))) => Ok(pools),
            (Ok(_asking), known) => cached.ask(known).await,
            (Err(_), None) => {
                let _asking = cached.asking.lock().await;
                match cached.known() {
                    Some((_, pools)) => Ok(pools),
                    None => cached.ask(None).await,
                }
            }
        }
    }

    fn renew(&self) {
        let Ok(asking) = Arc::clone(&self.cached.asking).try_lock_owned() else { return };
        let cached = Arc::clone(&self.cached);
        self.tasks.spawn_detached("api.pools_renewal", async move {
            // Where that fails what is known serves on.
            let _ = cached.ask(cached.known()).await;
            drop(asking);
        });
    }
}

impl Cached {
    fn known(&self) -> CachedPools {
        self.known.read().clone()
    }

    async fn ask(&self, known: CachedPools) -> Result<Arc<[SubmitPool]>, Problem> {
        let asked_at = monotonic();
        match (store::pool::list(&self.db).await, known) {
            (Ok(pools), _) => {
                let pools: Arc<[SubmitPool]> = pools.into();
                let fresh = Some((asked_at, Arc::clone(&pools)));
                *self.known.write() = fresh;
                Ok(pools)
            }
            (Err(_), Some((_, pools))) => Ok(pools),
            (Err(error), None) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use runtime::config::load_from;
    use testkit::db::{SERVICE_PASSWORD, TestDatabase};
    use testkit::proxy::{Mode, Proxy};

    /// So long after the last use one may have to wait: the list was not renewed because nobody used it.
    const PAUSE: Duration = Duration::from_millis(150);

    #[tokio::test(flavor = "multi_thread")]
    async fn whoever_uses_the_list_all_the_time_never_waits_for_it_and_sees_what_is_new() {
        let database = TestDatabase::new().await.unwrap();
        let url = database.owner_url();
        let address = url.rsplit('@').next().unwrap().split('/').next().unwrap();
        let proxy = Proxy::start(address).await.unwrap();
        let settings = [
            ("BERTH_DATABASE__URL", proxy.url(url).unwrap()),
            ("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD.to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        let config = load_from(None, settings).unwrap();
        let pools = Pools::new(SubmitDb::connect(&config.database).unwrap(), TaskGroup::new());
        pools.current().await.unwrap();
        // Each answer is on its way for longer than a request should be, and sooner there than the list is too old.
        proxy.set(Mode::Delay(Duration::from_millis(50)));
        database.sql("insert into pool (name) values ('fresh')").await.unwrap();
        let (began, mut used, mut seen) = (monotonic(), monotonic(), false);
        while began.elapsed() < 3 * TTL {
            let list = match pools.current().now_or_never() {
                Some(list) => list.unwrap(),
                // It is this machine that paused.
                None if used.elapsed() > PAUSE => pools.current().await.unwrap(),
                None => panic!("a request waits after {:?}", began.elapsed()),
            };
            seen |= list.iter().any(|pool| pool.name.as_str() == "fresh");
            used = monotonic();
            runtime::clock::sleep(Duration::from_millis(5)).await;
        }
        assert!(seen, "a new pool is not known after {:?}", began.elapsed());
    }
}
