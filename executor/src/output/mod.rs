//! What commands write and servers answer, on its way to the resource manager.
//!
//! A command must never wait for us: its pipes are always drained. The first bytes of each stream are
//! sent as they come, the last are kept and sent at the end, and what lies between is only
//! counted, so that memory is bounded whatever a command writes.

mod attempt;
mod feed;
mod flight;
mod flush;
mod pump;
mod queue;
mod stream;
mod text;

pub(crate) use attempt::{AttemptOutput, OutputLimits};
pub(crate) use feed::Feed;
pub(crate) use flight::Flight;
pub(crate) use pump::pump;
pub(crate) use queue::OutputQueue;
pub(crate) use stream::Which;
