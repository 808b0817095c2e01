//! Where loops report that they turn, and roles that they are ready.
//!
//! One per role, cheap to clone. Tickers register themselves; a role adds its own checks
//! (`set_check("bus", …)`) and says when it is ready. A failing tick keeps the process live and makes
//! it not ready once its last success is too old.

use super::report::{Check, HealthReport};
use crate::clock::{self, Instant};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The checks of one role. A new one is not ready until `set_ready(true)`.
#[derive(Debug, Clone, Default)]
pub struct Health {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    ready: bool,
    draining: bool,
    checks: BTreeMap<String, Result<(), String>>,
    ticks: BTreeMap<String, Tick>,
}

#[derive(Debug)]
struct Tick {
    max_age: Duration,
    /// Whether readiness depends on its success.
    needed: bool,
    turned: Instant,
    succeeded: Option<Instant>,
}

impl Health {
    /// Nothing registered, not ready.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the role has started up far enough to get work.
    pub fn set_ready(&self, ready: bool) {
        self.lock().ready = ready;
    }

    /// From now on not ready, for good: the process is about to stop.
    pub fn mark_draining(&self) {
        self.lock().draining = true;
    }

    /// Sets a check that readiness depends on (`"bus"`, `"database"`); an error says what is wrong.
    pub fn set_check(&self, name: &str, result: Result<(), String>) {
        self.lock().checks.insert(name.to_owned(), result);
    }

    /// Adds a tick that must turn at least every `max_age`, counted from now, and succeed as often to
    /// be ready. Repeating it starts the count anew.
    pub fn register_tick(&self, name: &str, max_age: Duration) {
        self.register(name, max_age, true);
    }

    /// The same for a tick that must turn and may fail: the role does its job without it.
    pub fn register_turns(&self, name: &str, max_age: Duration) {
        self.register(name, max_age, false);
    }

    fn register(&self, name: &str, max_age: Duration, needed: bool) {
        let tick = Tick { max_age, needed, turned: clock::monotonic(), succeeded: None };
        self.lock().ticks.insert(name.to_owned(), tick);
    }

    /// The tick ran and succeeded. Unregistered names are ignored.
    pub fn ticked(&self, name: &str) {
        let now = clock::monotonic();
        if let Some(tick) = self.lock().ticks.get_mut(name) {
            tick.turned = now;
            tick.succeeded = Some(now);
        }
    }

    /// The tick ran and failed: it turns, but does not do its work.
    pub fn tick_failed(&self, name: &str) {
        if let Some(tick) = self.lock().ticks.get_mut(name) {
            tick.turned = clock::monotonic();
        }
    }

    /// The tick ended as it should; it is no longer expected to turn.
    pub fn forget_tick(&self, name: &str) {
        self.lock().ticks.remove(name);
    }

    /// Whether all loops still turn. If not, the process should be restarted.
    #[must_use]
    pub fn live(&self) -> HealthReport {
        let now = clock::monotonic();
        let check = |(name, tick): (&String, &Tick)| {
            aged(name, "turned", now.duration_since(tick.turned), tick.max_age)
        };
        HealthReport::of(self.lock().ticks.iter().map(check).collect())
    }

    /// Whether the role can do its job now.
    #[must_use]
    pub fn ready(&self) -> HealthReport {
        let now = clock::monotonic();
        let state = self.lock();
        let detail = match (state.draining, state.ready) {
            (true, _) => "draining before the end",
            (false, false) => "starting",
            (false, true) => "",
        };
        let mut checks = vec![Check {
            name: "accepting".to_owned(),
            ok: state.ready && !state.draining,
            detail: detail.to_owned(),
        }];
        checks.extend(state.checks.iter().map(|(name, result)| Check {
            name: name.clone(),
            ok: result.is_ok(),
            detail: result.clone().err().unwrap_or_default(),
        }));
        let needed = state.ticks.iter().filter(|(_, tick)| tick.needed);
        checks.extend(needed.map(|(name, tick)| match tick.succeeded {
            Some(at) => aged(name, "succeeded", now.duration_since(at), tick.max_age),
            None => {
                Check { name: name.clone(), ok: false, detail: "has not succeeded yet".to_owned() }
            }
        }));
        HealthReport::of(checks)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn aged(name: &str, what: &str, age: Duration, max_age: Duration) -> Check {
    let (age_ms, max_ms) = (age.as_millis(), max_age.as_millis());
    Check {
        name: name.to_owned(),
        ok: age <= max_age,
        detail: format!("last {what} {age_ms} ms ago, limit {max_ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_AGE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_role_is_ready_between_start_up_and_drain() {
        let health = Health::new();
        assert!(!health.ready().ok);
        health.set_ready(true);
        assert!(health.ready().ok);
        health.set_check("bus", Err("no connection".to_owned()));
        assert!(!health.ready().ok);
        assert!(health.ready().to_string().contains("bus NOT OK: no connection"));
        health.set_check("bus", Ok(()));
        assert!(health.ready().ok);
        health.mark_draining();
        health.set_ready(true);
        assert!(!health.ready().ok);
        assert!(health.live().ok);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_tick_is_live_but_not_ready() {
        let health = Health::new();
        health.set_ready(true);
        health.register_tick("sweep", MAX_AGE);
        assert!(health.live().ok && !health.ready().ok);
        health.ticked("sweep");
        assert!(health.live().ok && health.ready().ok);
        clock::sleep(MAX_AGE + Duration::from_millis(1)).await;
        health.tick_failed("sweep");
        assert!(health.live().ok && !health.ready().ok);
    }

    #[tokio::test(start_paused = true)]
    async fn a_tick_the_role_can_do_without_may_fail_and_may_not_hang() {
        let health = Health::new();
        health.set_ready(true);
        health.register_turns("sweep", MAX_AGE);
        health.tick_failed("sweep");
        assert!(health.live().ok && health.ready().ok);
        clock::sleep(MAX_AGE + Duration::from_millis(1)).await;
        assert!(!health.live().ok && health.ready().ok);
    }

    #[tokio::test(start_paused = true)]
    async fn a_hung_tick_is_not_live_until_it_is_forgotten() {
        let health = Health::new();
        health.register_tick("sweep", MAX_AGE);
        clock::sleep(MAX_AGE + Duration::from_millis(1)).await;
        assert!(!health.live().ok);
        health.forget_tick("sweep");
        assert!(health.live().ok);
    }
}
