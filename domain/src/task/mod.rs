//! The life of a task: its states, the events that move it, what it runs, how it retries.

mod event;
mod outcome;
mod retry;
mod run;
mod state;
mod transition;

pub use event::Event;
pub use outcome::{AttemptOutcome, ParseOutcomeError};
pub use retry::{Backoff, Delivery, ParseDeliveryError, RetryDecision, RetryPolicy, decide_retry};
pub use run::{CommandRun, NoopRun, Run};
pub use state::{ParseStateError, State};
pub use transition::{Move, moves, next};
