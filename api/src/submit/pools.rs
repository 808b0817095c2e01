//! Which pools there are, as of a second ago.
//!
//! Asked by every submit, so that a task for a pool that does not exist is refused instead of waiting
//! forever. While the database is away the last known list serves: pools do not vanish.

use crate::problem::Problem;
use domain::id::PoolName;
use runtime::clock::{Instant, monotonic};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use store::connect::SubmitDb;
use tokio::sync::Mutex;

const TTL: Duration = Duration::from_secs(1);

type Known = Option<(Instant, Arc<[PoolName]>)>;

/// The cached list.
#[derive(Debug)]
pub(crate) struct Pools {
    db: SubmitDb,
    known: RwLock<Known>,
    asking: Mutex<()>,
}

impl Pools {
    pub(crate) fn new(db: SubmitDb) -> Self {
        Self { db, known: RwLock::new(None), asking: Mutex::new(()) }
    }

    /// The pools.
    ///
    /// # Errors
    /// When none are known yet and the database gives no answer.
    pub(crate) async fn current(&self) -> Result<Arc<[PoolName]>, Problem> {
        let known = self.known();
        if let Some((_, pools)) = known.as_ref().filter(|(at, _)| at.elapsed() < TTL) {
            return Ok(Arc::clone(pools));
        }
        // One request asks; meanwhile the others go on with what is known.
        match (self.asking.try_lock(), known) {
            (Err(_), Some((_, pools))) => Ok(pools),
            (Ok(_asking), known) => self.ask(known).await,
            (Err(_), None) => {
                let _asking = self.asking.lock().await;
                match self.known() {
                    Some((_, pools)) => Ok(pools),
                    None => self.ask(None).await,
                }
            }
        }
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn ask(&self, known: Known) -> Result<Arc<[PoolName]>, Problem> {
        let asked_at = monotonic();
        match (store::pool::list(&self.db).await, known) {
            (Ok(pools), _) => {
                let pools: Arc<[PoolName]> = pools.into();
                let fresh = Some((asked_at, Arc::clone(&pools)));
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = fresh;
                Ok(pools)
            }
            (Err(_), Some((_, pools))) => Ok(pools),
            (Err(error), None) => Err(error.into()),
        }
    }
}
