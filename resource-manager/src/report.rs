//! Tells the batcher what there is to give: when it changes, and every second.

use crate::fleet::Fleet;
use bus::{Bus, Topic};
use domain::id::NodeId;
use runtime::clock::{self, Instant};
use runtime::tick::TickOutcome;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::load::{PoolReport, report};

/// No two reports within this: the rate of completions hides what is missed meanwhile.
const APART: Duration = Duration::from_millis(10);
/// A report is repeated after this, because the batcher forgets old ones.
const REPEAT: Duration = Duration::from_secs(1);

pub(crate) struct Reporter {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub bus: Bus,
    pub told: Mutex<Option<(Instant, Vec<PoolReport>)>>,
}

impl Reporter {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let now = clock::monotonic();
        let loads = self.fleet.loads();
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let rose = match &told {
            Some((at, before)) if *before == loads && at.elapsed() < REPEAT => {
                return Ok(TickOutcome::idle(0));
            }
            Some((_, before)) => {
                free(&loads) > free(before) || completed(&loads) > completed(before)
            }
            None => true,
        };
        if let Some(soon) = told.as_ref().map(|(at, _)| *at + APART).filter(|soon| *soon > now) {
            // Not the ticker's pause, which a change ends: under load there is always one.
            clock::sleep_until(soon).await;
        }
        let loads = self.fleet.loads();
        if !loads.is_empty() {
            report(&self.db, self.node, &loads).await?;
        }
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((clock::monotonic(), loads));
        if rose {
            self.bus.wake(Topic::Batcher);
        }
        Ok(TickOutcome::idle(1))
    }
}

fn free(loads: &[PoolReport]) -> u64 {
    loads.iter().map(|load| load.free_slots).sum()
}

fn completed(loads: &[PoolReport]) -> u64 {
    loads.iter().map(|load| load.completed_slots).sum()
}
