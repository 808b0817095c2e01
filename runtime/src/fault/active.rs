//! The plans in force and the count of hits.
//!
//! A plan comes from `set` (in-process tests), from the file `BERTH_FAULTS_FILE`, which is read again at
//! every hit so that a test can steer a running process, or from `BERTH_FAULTS`, in this order. A plan that
//! cannot be read ends the process: a chaos run that injects nothing proves nothing.

use super::injected::InjectedFault;
use super::plan::{Action, Plan, entries};
use crate::clock;
use crate::config::variable;
use crate::log_queue;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

#[derive(Default)]
struct State {
    set: HashMap<String, Plan>,
    hits: HashMap<String, u64>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
static FROM_ENVIRONMENT: LazyLock<HashMap<String, Plan>> =
    LazyLock::new(|| read(&variable("BERTH_FAULTS").unwrap_or_default()));
static FILE: LazyLock<Option<String>> = LazyLock::new(|| variable("BERTH_FAULTS_FILE"));

/// Sets the plan of a point and starts its count of hits anew.
pub fn set(point: &str, plan: Plan) {
    let mut state = lock();
    state.hits.remove(point);
    state.set.insert(point.to_owned(), plan);
}

/// Removes all plans made by `set`, and all counts.
pub fn clear() {
    *lock() = State::default();
}

/// How often a point was hit.
#[must_use]
pub fn hits(point: &str) -> u64 {
    lock().hits.get(point).copied().unwrap_or(0)
}

pub(super) async fn act(point: &'static str) -> Result<(), InjectedFault> {
    let (plan, hit) = {
        let mut state = lock();
        let count = state.hits.entry(point.to_owned()).or_default();
        *count += 1;
        let hit = *count;
        (state.set.get(point).copied(), hit)
    };
    let plan = plan.or_else(|| from_file(point)).or_else(|| FROM_ENVIRONMENT.get(point).copied());
    let Some(plan) = plan.filter(|plan| (plan.first..=plan.last).contains(&hit)) else {
        return Ok(());
    };
    tracing::warn!(point, hit, action = ?plan.action, "Injecting a fault at `{point}`");
    match plan.action {
        Action::Error => Err(InjectedFault { point }),
        Action::Kill => {
            // Tests look for the line above.
            log_queue::flush(Duration::from_secs(1));
            std::process::abort()
        }
        Action::Delay(pause) => {
            clock::sleep(pause).await;
            Ok(())
        }
    }
}

fn from_file(point: &str) -> Option<Plan> {
    let text = std::fs::read_to_string(FILE.as_ref()?).ok()?;
    read(&text).get(point).copied()
}

fn read(text: &str) -> HashMap<String, Plan> {
    match entries(text) {
        Ok(plans) => plans.into_iter().collect(),
        Err(error) => {
            tracing::error!(%error, "The faults asked for cannot be read: {error}");
            std::process::exit(2);
        }
    }
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock()
}
