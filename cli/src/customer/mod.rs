//! The customer's commands: each is one call of the API, or one for each page.

mod attempts;
mod cancel;
mod connection;
mod failure;
mod get;
mod list;
mod logs;
mod submit;
mod usage;

pub use attempts::{AttemptsArguments, run as attempts};
pub use cancel::{CancelArguments, run as cancel};
pub use connection::{Connection, ConnectionArguments};
pub(crate) use failure::failure as call_failure;
pub use get::{GetArguments, run as get};
pub use list::{ListArguments, run as list};
pub use logs::{LogsArguments, run as logs};
pub use submit::{SubmitArguments, run as submit};
pub use usage::{UsageArguments, run as usage};
