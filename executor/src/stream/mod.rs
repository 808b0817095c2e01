//! The way to a resource manager: which one, how, and what came back.
//!
//! Knows nothing of attempts. The agent owns the `Line`, decides when to dial and what to say, and
//! obeys only what comes with the number of its newest link.

mod dial;
mod line;
mod open;

pub use dial::DialError;
pub(crate) use dial::Dialer;
pub(crate) use line::{Line, Link, Retiring, Stage};
pub(crate) use open::{Greeting, StreamEvent, open};
