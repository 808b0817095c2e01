//! The driver that calls a URL.
//!
//! An attempt is one future of the agent's process: dropping it closes its connection, which is how it
//! is capped, stopped and fenced. What it may connect to is guarded by [`egress`].
//!
//! The body of the last answer is the attempt's standard output; requests made and heads received, one line
//! each, are its standard error. A body that is JSON is also what the task returns.

mod attempt;
mod driver;
mod end;
mod ending;
mod json_body;
mod request;
mod transcript;

pub(crate) use driver::HttpDriver;
