//! Keeps charges true: what attempts took is heard from the resource managers, and asked for where nobody tells.

use domain::batch::Turns;
use domain::id::{NodeId, TaskId};
use domain::time::Timestamp;
use runtime::clock::{self, Instant};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::StoreError;
use store::attempt_end::{hear, still_held};
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
        for turns in pools {
            ends.iter().for_each(|(task, used)| turns.ended(*task, *used));
            turns.advance(now);
            ask(db, turns, now).await?;
        }
        Ok(())
    }
}

async fn ask(db: &SchedulerDb, turns: &mut Turns, now: Timestamp) -> Result<(), StoreError> {
    let doubtful = turns.doubtful(now, ASKED);
    if doubtful.is_empty() {
        return Ok(());
    }
    let held: HashSet<TaskId> = still_held(db, &doubtful).await?.into_iter().collect();
    let gone = doubtful.iter().map(|(_, task)| *task).filter(|task| !held.contains(task));
    gone.for_each(|task| turns.vanished(task));
    Ok(())
}
