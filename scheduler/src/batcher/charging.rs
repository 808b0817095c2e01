//! Corrects charges to actual use, as reported by resource managers. Attempts whose end is not reported are queried.

use domain::batch::Turns;
use domain::id::NodeId;
use runtime::clock::{self, Instant};
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::attempt_end::{read, unreported};
use store::connect::SchedulerDb;

/// Pause between two reads of the reports: estimates are charged meanwhile.
const READ_PAUSE: Duration = Duration::from_millis(100);
/// Attempts beyond their estimates per query.
const LOOKED_UP: usize = 200;

/// How far the reports were read.
#[derive(Debug, Default)]
pub(super) struct Charging {
    cursors: HashMap<NodeId, i64>,
    read_at: Option<Instant>,
}

impl Charging {
    /// Corrects the charges of tenants in all pools.
    pub(super) async fn update<'a>(
        &mut self,
        db: &SchedulerDb,
        pools: impl Iterator<Item = &'a mut Turns>,
    ) -> Result<(), StoreError> {
        if self.read_at.is_some_and(|at| at.elapsed() < READ_PAUSE) {
            return Ok(());
        }
        self.read_at = Some(clock::monotonic());
        let ends = read(db, &mut self.cursors).await?;
        let now = clock::wall();
        let mut pools: Vec<_> = pools.collect();
        // Before anything that may fail: they are reported once.
        for turns in &mut pools {
            ends.iter().for_each(|end| turns.ended(end.task, end.used));
            turns.advance(now);
        }
        for turns in pools {
            let doubtful = turns.doubtful(now, LOOKED_UP);
            if !doubtful.is_empty() {
                let unreported = unreported(db, &doubtful).await?;
                unreported.into_iter().for_each(|end| turns.ended(end.task, end.used));
            }
        }
        Ok(())
    }
}
