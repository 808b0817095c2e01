//! A cache of pool grants, which decide whether a due time may create a task.

use domain::id::PoolName;
use domain::pool::{PoolGrants, PoolUser};
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::pool::list_for_fires;

/// Longest age of the list.
const FRESH: Duration = Duration::from_secs(1);

type Granted = Arc<HashMap<PoolName, PoolGrants>>;

#[derive(Debug, Default)]
pub(super) struct Pools(Mutex<Option<(Granted, Instant)>>);

impl Pools {
    /// Reads the list again if it is too old.
    pub(super) async fn refresh(&self, db: &SchedulerDb) -> Result<(), StoreError> {
        let asked_at = monotonic();
        let is_fresh = |(_, at): &(Granted, Instant)| at.elapsed() < FRESH;
        if self.list().as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        let granted = Arc::new(list_for_fires(db).await?);
        *self.0.lock() = Some((granted, asked_at));
        Ok(())
    }

    /// Whether `user` may use `pool`. False before the first read.
    pub(super) fn admit(&self, pool: &PoolName, user: PoolUser<'_>) -> bool {
        let list = self.list();
        list.and_then(|(granted, _)| Some(granted.get(pool)?.admit(user))).unwrap_or(false)
    }

    fn list(&self) -> Option<(Granted, Instant)> {
        self.0.lock().clone()
    }
}
