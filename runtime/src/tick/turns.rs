//! What a loop shows of itself that is fed by a queue, and so has no tick of its own.
//!
//! Held by loops such as the one that settles results. The rule: what it waits for may take for ever, what it does may not; and
//! one bad item ends neither the loop nor the process.

use super::measure::Measure;
use crate::clock;
use crate::health::Health;
use crate::tasks::{caught, report_panic};
use std::pin::pin;
use std::time::Duration;

/// A loop that waits says so this often.
const TELL: Duration = Duration::from_secs(1);
/// Age without a turn at which the process counts as hung.
const MAX_AGE: Duration = Duration::from_secs(30);

/// Reports the turns of one loop to its role's health.
pub struct Turns {
    name: String,
    health: Health,
    measure: Measure,
}

impl Turns {
    /// `name` labels metrics and liveness; one name a process. Counts as turning from now on.
    #[must_use]
    pub fn of(name: impl Into<String>, health: &Health) -> Self {
        let name = name.into();
        health.register_tick(&name, MAX_AGE);
        let turns = Self { measure: Measure::of(&name), health: health.clone(), name };
        turns.alive();
        turns
    }

    /// Waits for what is to be done next, and is alive meanwhile.
    pub async fn wait<F: Future>(&self, next: F) -> F::Output {
        let mut next = pin!(next);
        loop {
            self.alive();
            if let Ok(next) = clock::timeout(TELL, &mut next).await {
                return next;
            }
        }
    }

    /// Does one turn; `work` says whether it went well. A panic is logged and counted, and the next turn may come.
    pub async fn turn(&self, work: impl Future<Output = bool>) {
        let began = clock::monotonic();
        match caught(work).await {
            Ok(true) => {
                self.measure.succeeded(began.elapsed(), 1);
                self.health.ticked(&self.name);
            }
            Ok(false) => {
                self.measure.failed(began.elapsed(), false);
                self.health.tick_failed(&self.name);
            }
            Err(panic) => {
                self.measure.failed(began.elapsed(), true);
                self.health.tick_failed(&self.name);
                report_panic(&self.name, &panic);
            }
        }
    }

    /// In a turn that takes long because it fails and tries again: it turns, and does not do its work.
    pub fn fails(&self) {
        self.health.tick_failed(&self.name);
    }

    /// It ended as it should and is no longer expected to turn. A loop that is only dropped is missed.
    pub fn end(self) {
        self.health.forget_tick(&self.name);
    }

    /// Says that it turns, where the loop does its own waiting.
    pub fn alive(&self) {
        self.measure.alive();
        self.health.ticked(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_waits_is_alive_and_one_that_hangs_is_not() {
        let health = Health::new();
        health.set_ready(true);
        let turns = Turns::of("test_turns_hang", &health);
        turns.wait(clock::sleep(MAX_AGE * 10)).await;
        assert!(health.live().ok && health.ready().ok);
        turns
            .turn(async {
                clock::sleep(MAX_AGE + TELL).await;
                assert!(!health.live().ok);
                turns.fails();
                assert!(health.live().ok && !health.ready().ok);
                true
            })
            .await;
        assert!(health.live().ok && health.ready().ok);
        turns.end();
        clock::sleep(MAX_AGE * 2).await;
        assert!(health.live().ok);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_in_a_turn_is_counted_and_the_loop_goes_on() {
        let health = Health::new();
        let turns = Turns::of("test_turns_panic", &health);
        turns.turn(async { panic!("a bad item") }).await;
        turns.turn(async { true }).await;
        let metrics = crate::metrics::render();
        assert!(
            metrics.contains("berth_task_panics_total{task=\"test_turns_panic\"} 1"),
            "{metrics}"
        );
        assert!(health.live().ok);
    }
}
