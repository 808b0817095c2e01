//! Tells the batcher what there is to give: soon after it changed, and every second.

use crate::fleet::Fleet;
use bus::{Bus, Topic};
use domain::id::NodeId;
use domain::placement::Shapes;
use domain::resources::Resources;
use runtime::clock::{self, Instant};
use runtime::tick::TickOutcome;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::load::{PoolReport, report};

/// No two reports within this: the rate of completions hides what is missed meanwhile.
const APART: Duration = Duration::from_millis(10);
/// Where there is room for much more than comes and goes, a figure may be this old.
const APART_WITH_AMPLE_ROOM: Duration = Duration::from_millis(50);
/// Room is ample where it is this many times what came back since the last report.
const AMPLE: u64 = 8;
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
        let loads = self.fleet.loads();
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut ample = false;
        if let Some((at, before)) = &told {
            if *before == loads && at.elapsed() < REPEAT {
                return Ok(TickOutcome::idle(0));
            }
            ample = is_ample(before, &loads);
            let apart = if ample { APART_WITH_AMPLE_ROOM } else { APART };
            // Not the ticker's pause, which a change ends: under load there is always one.
            clock::sleep_until(*at + apart).await;
        }
        let loads = self.fleet.loads();
        let gone = told.iter().flat_map(|(_, before)| gone(before, &loads));
        let all: Vec<PoolReport> = loads.iter().cloned().chain(gone).collect();
        if !all.is_empty() {
            report(&self.db, self.node, &all).await?;
        }
        // Whoever waits for room waits because there was not enough.
        let wake = !ample && told.is_none_or(|(_, before)| is_more(&before, &loads));
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((clock::monotonic(), loads));
        if wake {
            self.bus.wake(Topic::Batcher);
        }
        Ok(TickOutcome::idle(1))
    }
}

/// Pools whose last executor has left: they have no room any more, and that is told once.
fn gone(before: &[PoolReport], now: &[PoolReport]) -> Vec<PoolReport> {
    let left = before.iter().filter(|was| now.iter().all(|is| is.pool != was.pool));
    let nothing = |was: &PoolReport| PoolReport {
        free_slots: 0,
        largest: Resources::default(),
        total: Resources::default(),
        lacks: Shapes::default(),
        ..was.clone()
    };
    left.map(nothing).collect()
}

/// True where something came back, or a size is not lacking any more.
fn is_more(before: &[PoolReport], now: &[PoolReport]) -> bool {
    before.len() != now.len()
        || before.iter().zip(now).any(|(before, now)| {
            now.free_slots > before.free_slots
                || now.completed_slots > before.completed_slots
                || now.largest != before.largest
                || now.lacks != before.lacks
        })
}

/// True where each pool had, and has, room for many times what came back in between, and lacks what it lacked.
fn is_ample(before: &[PoolReport], now: &[PoolReport]) -> bool {
    before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| {
            let back = now.completed_slots.saturating_sub(before.completed_slots);
            let least = before.free_slots.min(now.free_slots);
            before.pool == now.pool
                && before.lacks == now.lacks
                && before.largest == now.largest
                && least > 0
                && least >= back.saturating_mul(AMPLE)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_lost_its_last_executor_has_no_room() {
        let report = |pool: &str| PoolReport {
            pool: pool.parse().unwrap(),
            free_slots: 5,
            completed_slots: 9,
            largest: Resources { cpu_millis: 1000, ..Resources::default() },
            total: Resources { cpu_millis: 3000, ..Resources::default() },
            lacks: Shapes::default(),
        };
        let left = gone(&[report("a"), report("b")], &[report("b")]);
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].pool.as_str(), left[0].free_slots), ("a", 0));
        assert_eq!((left[0].largest, left[0].completed_slots), (Resources::default(), 9));
    }
}
