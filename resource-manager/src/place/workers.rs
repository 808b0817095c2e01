//! Starts a pool's worker when its first executor connects.

use super::PoolWorker;
use crate::lease_store::LeaseStore;
use domain::id::PoolName;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::collections::HashSet;
use tokio::sync::mpsc;

/// Starts one worker per pool until the shutdown.
pub(crate) async fn run<S: LeaseStore>(
    mut pools: mpsc::UnboundedReceiver<PoolName>,
    tasks: TaskGroup,
    shutdown: Shutdown,
    worker: impl Fn(PoolName) -> PoolWorker<S> + Clone + Send + Sync + 'static,
) {
    let mut started = HashSet::new();
    loop {
        let pool = tokio::select! {
            () = shutdown.cancelled() => return,
            pool = pools.recv() => match pool {
                Some(pool) => pool,
                None => return,
            },
        };
        if started.insert(pool.clone()) {
            let (worker, stop) = (worker.clone(), shutdown.clone());
            tasks.supervise("place", shutdown.clone(), move || {
                let (worker, pool, stop) = (worker.clone(), pool.clone(), stop.clone());
                async move { worker(pool).run(stop).await }
            });
        }
    }
}
