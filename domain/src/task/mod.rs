//! The life of a task: its states, the events that move it, what it runs, how it retries.

mod change;
mod command;
mod completion;
mod dispatch;
mod driver;
mod event;
mod http;
mod lease;
mod lever;
mod outcome;
mod result_value;
mod retry;
mod retry_after;
mod returned;
mod run;
mod spec;
mod state;
mod success;
mod transition;

pub use change::change;
pub use command::{
    CommandProblem, MAX_COMMAND_BYTES, MAX_STRING, check_argument, check_command_size,
    check_variable,
};
pub use completion::{CompleteOn, CompletionToken, ParseCompleteOnError, ParseTokenError};
pub use dispatch::Dispatch;
pub use driver::{DriverName, DriverSet, ParseDriverNameError};
pub use event::Event;
pub use http::{
    HeaderProblem, HttpMethod, HttpRun, MAX_HEADER_NAME, MAX_HEADER_VALUE, MAX_HEADERS,
    ParseMethodError, check_header,
};
pub use lease::LeaseKey;
pub use lever::{Effect, Lever, NewTime, Refusal, event_of_change};
pub use outcome::{AttemptOutcome, ParseOutcomeError};
pub use result_value::{InvalidResult, MAX_RESULT_BYTES, MAX_RESULT_DEPTH, ResultValue};
pub use retry::{
    AttemptEnd, Backoff, Delivery, ParseDeliveryError, ParseRetryOnError, RetryDecision, RetryOn,
    RetryPolicy, decide_retry,
};
pub use retry_after::{MAX_RETRY_AFTER, parse_http_date, parse_retry_after};
pub use returned::wait_after_return;
pub use run::{CommandRun, NoopRun, Run};
pub use spec::{Labels, StoredRun, TaskSpec};
pub use state::{ParseStateError, State};
pub use success::{ParseSuccessError, SuccessRule};
pub use transition::{Move, moves, next};
