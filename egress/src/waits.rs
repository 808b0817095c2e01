//! How long an exchange has waited for its turns to look names up, and whether it waits now.
//!
//! Written by the exchange, read by whoever ends it. The wait is not the exchange's doing: its timeout does not run
//! meanwhile.

use parking_lot::Mutex;
use runtime::clock;
use std::time::Duration;

/// Shared between an exchange and whoever may end it.
#[derive(Debug, Default)]
pub struct Waits(Mutex<State>);

#[derive(Debug, Default, Clone, Copy)]
struct State {
    total: Duration,
    since: Option<clock::Instant>,
    asked: bool,
}

/// What an exchange does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It waits and has sent nothing.
    NotBegun,
    /// It waits for another turn, after a redirect.
    Between,
    /// It does something.
    Busy,
}

impl Waits {
    /// Waits for `turn`.
    pub(super) async fn during<F: Future>(&self, turn: F) -> F::Output {
        self.0.lock().since = Some(clock::monotonic());
        let turn = turn.await;
        let mut state = self.0.lock();
        if let Some(since) = state.since.take() {
            state.total += since.elapsed();
        }
        turn
    }

    /// A request may be on its way from now on.
    pub(super) fn asks(&self) {
        self.0.lock().asked = true;
    }

    /// What it does now.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let state = *self.0.lock();
        match (state.since, state.asked) {
            (None, _) => Stage::Busy,
            (Some(_), false) => Stage::NotBegun,
            (Some(_), true) => Stage::Between,
        }
    }

    /// All of the waiting up to now.
    #[must_use]
    pub fn total(&self) -> Duration {
        let state = *self.0.lock();
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
