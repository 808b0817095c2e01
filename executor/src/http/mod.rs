//! The driver that calls a URL.
//!
//! An attempt is one future of the agent's process ([`run`]): dropping it closes its connection, which is how it
//! is capped, stopped and fenced. Each request goes over a connection of its own, made by [`network`] to one address
//! that was checked ([`domain::target`]); nothing is pooled, so no check can be passed by riding on another's
//! connection, and no proxy is asked, whatever the environment says.
//!
//! The body of the last answer is the attempt's standard output; requests made and heads received, one line
//! each, are its standard error.

mod answer;
mod attempt;
mod call;
mod end;
mod exchange;
mod letter_case;
mod names;
mod network;
mod redirect;
#[cfg(test)]
mod tests;
mod tls;
mod transcript;
mod turns;
mod waits;

pub(crate) use attempt::{Assigned, run};
pub(crate) use end::HttpEnd;
pub(crate) use network::Direct;
pub(crate) use tls::Tls;
