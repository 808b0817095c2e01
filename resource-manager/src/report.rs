//! Reports the free room of each pool to the batcher: after a change, at most every `resource_manager.report_interval`,
//! and each second.

use crate::fleet::Fleet;
use bus::{Bus, Topic};
use domain::id::NodeId;
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::DriverSet;
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use runtime::tick::TickOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::load::{PoolReport, report};

/// Room is ample if it is this many times what was freed or claimed since the last report.
const AMPLE: u64 = 8;
/// A report is repeated after this, because old reports expire.
const REPEAT: Duration = Duration::from_secs(1);

pub(crate) struct Reporter {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub bus: Bus,
    /// Shortest interval of reports: the completion rate covers what is not reported meanwhile.
    pub interval: Duration,
    pub last: Mutex<Option<(Instant, Vec<PoolReport>)>>,
}

impl Reporter {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let last = self.last.lock().clone();
        if let Some((at, _)) = &last {
            // A sleep, because a change would end the ticker's pause, and under load there always is one.
            clock::sleep_until(*at + self.interval).await;
        }
        let loads = self.fleet.loads();
        if last.as_ref().is_some_and(|(at, before)| *before == loads && at.elapsed() < REPEAT) {
            return Ok(TickOutcome::idle(0));
        }
        let before = last.map(|(_, before)| before).unwrap_or_default();
        let all: Vec<PoolReport> = loads.iter().cloned().chain(gone(&before, &loads)).collect();
        if !all.is_empty() {
            report(&self.db, self.node, &all).await?;
        }
        // Tasks wait for room only if there was not enough.
        let wake = !is_ample(&before, &loads) && is_more(&before, &loads);
        *self.last.lock() = Some((clock::monotonic(), loads));
        if wake {
            self.bus.wake(Topic::Batcher);
        }
        Ok(TickOutcome::idle(1))
    }
}

/// Pools whose last executor has left, reported once without room.
fn gone(before: &[PoolReport], now: &[PoolReport]) -> Vec<PoolReport> {
    let left = before.iter().filter(|was| now.iter().all(|is| is.pool != was.pool));
    let nothing = |was: &PoolReport| PoolReport {
        free_slots: 0,
        largest: Resources::default(),
        free: Resources::default(),
        total: Resources::default(),
        lacks: Lacks::default(),
        drivers: DriverSet::of([]),
        ..was.clone()
    };
    left.map(nothing).collect()
}

/// Whether room was freed, or other sizes or drivers are lacking.
fn is_more(before: &[PoolReport], now: &[PoolReport]) -> bool {
    before.len() != now.len()
        || before.iter().zip(now).any(|(before, now)| {
            now.free_slots > before.free_slots
                || now.completed_slots > before.completed_slots
                || now.largest != before.largest
                || now.lacks != before.lacks
                || now.drivers != before.drivers
        })
}

/// Whether each pool had and has ample room, the same lacking sizes and the same drivers.
fn is_ample(before: &[PoolReport], now: &[PoolReport]) -> bool {
    before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| {
            let back = now.completed_slots.saturating_sub(before.completed_slots);
            // Running tasks free their room: soon, if tasks are short.
            let moved = back.max(before.free_slots.saturating_sub(now.free_slots));
            let least = before.free_slots.min(now.free_slots);
            before.pool == now.pool
                && before.lacks == now.lacks
                && before.drivers == now.drivers
                && before.largest == now.largest
                && least > 0
                && least >= moved.saturating_mul(AMPLE)
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
            free: Resources { cpu_millis: 500, ..Resources::default() },
            total: Resources { cpu_millis: 3000, ..Resources::default() },
            lacks: Lacks::default(),
            drivers: DriverSet::of([]),
            last_placed: clock::monotonic(),
        };
        let left = gone(&[report("a"), report("b")], &[report("b")]);
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].pool.as_str(), left[0].free_slots), ("a", 0));
        assert_eq!((left[0].largest, left[0].completed_slots), (Resources::default(), 9));
    }

    fn one_pool(free_slots: u64, completed_slots: u64) -> Vec<PoolReport> {
        vec![PoolReport {
            pool: "a".parse().unwrap(),
            free_slots,
            completed_slots,
            largest: Resources::default(),
            free: Resources::default(),
            total: Resources::default(),
            lacks: Lacks::default(),
            drivers: DriverSet::of([]),
            last_placed: clock::monotonic(),
        }]
    }

    #[test]
    fn room_that_was_claimed_is_as_little_ample_as_room_that_came_back() {
        assert!(is_ample(&one_pool(100, 0), &one_pool(100, 12)));
        assert!(!is_ample(&one_pool(8, 0), &one_pool(8, 6)));
        assert!(!is_ample(&one_pool(8, 0), &one_pool(2, 0)), "6 of 8 run, and will come back");
        assert!(is_ample(&one_pool(100, 0), &one_pool(90, 0)));
    }

    #[test]
    fn a_driver_that_comes_wakes_the_batcher() {
        let (before, mut now) = (one_pool(100, 0), one_pool(100, 0));
        now[0].drivers = DriverSet::of(["noop".parse().unwrap()]);
        assert!(!is_ample(&before, &now) && is_more(&before, &now));
    }
}
