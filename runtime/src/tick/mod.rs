//! Everything time-driven is a bounded, idempotent tick; this drives it.
//!
//! A role writes `tick() -> Result<TickOutcome, E>`: one bounded piece of work, what was done, and
//! when to be called again. The `Ticker` does the waiting, wake-ups, jitter, back-off, shutdown,
//! metrics and liveness, so that no role has a loop of its own that forgets one of them. `Turns` is for
//! loops that are fed by a queue.

mod driver;
mod measure;
mod outcome;
mod turns;

pub use driver::{Ticker, run_ticks};
pub use outcome::{Again, TickOutcome, TickPolicy};
pub use turns::Turns;
