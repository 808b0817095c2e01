//! Keeps charges true: what attempts took is heard from the resource managers, and asked for where nobody tells.

use domain::batch::Turns;
use domain::id::NodeId;
use runtime::clock::{self, Instant};
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::attempt_end::{hear, untold};
use store::connect::SchedulerDb;

/// Between two times of listening: estimates are charged meanwhile.
const LISTEN: Duration = Duration::from_millis(100);
/// Attempts beyond their estimates that are asked for at a time.
const ASKED: usize = 200;

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Charging {
    heard: HashMap<NodeId, i64>,
    at: Option<Instant>,
}

impl Charging {
    /// Charges the tenants of all pools what their attempts took.
    pub(super) async fn update<'a>(
        &mut self,
        db: &SchedulerDb,
        pools: impl Iterator<Item = &'a mut Turns>,
    ) -> Result<(), StoreError> {
        if self.at.is_some_and(|at| at.elapsed() < LISTEN) {
            return Ok(());
        }
        self.at = Some(clock::monotonic());
        let ends = hear(db, &mut self.heard).await?;
        let now = clock::wall();
        let mut pools: Vec<_> = pools.collect();
        // Before anything that may fail: they are told once.
        for turns in &mut pools {
            ends.iter().for_each(|(task, used)| turns.ended(*task, *used));
            turns.advance(now);
        }
        for turns in pools {
            let doubtful = turns.doubtful(now, ASKED);
            if !doubtful.is_empty() {
                let untold = untold(db, &doubtful).await?;
                untold.into_iter().for_each(|(task, used)| turns.ended(task, used));
            }
        }
        Ok(())
    }
}
