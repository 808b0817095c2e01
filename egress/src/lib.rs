//! HTTP out to addresses that customers name.
//!
//! [`Client::exchange`] makes one request and follows its redirects. Each hop is resolved anew, each address is checked
//! ([`domain::target`]), and the connection goes to exactly the address that was checked: a name that changes its
//! meaning in between changes nothing. Nothing is pooled, so no check can be passed by riding on another's connection,
//! and no proxy is asked, whatever the environment says. Certificates are always verified.
//!
//! An exchange is one future: dropping it closes its connection. What it may do is in its [`Rules`]; what it learns
//! goes to a [`Transcript`] as it comes. Nothing here knows tasks, attempts or leases.
#![warn(missing_docs)]

mod answer;
mod client;
mod exchange;
mod failure;
mod letter_case;
mod names;
mod network;
mod redirect;
mod request;
#[cfg(test)]
mod tests;
mod tls;
mod transcript;
mod turns;
mod waits;

pub use client::Client;
pub use exchange::{Answered, Rules};
pub use failure::Failure;
pub use hyper::header;
pub use hyper::{StatusCode, Version};
pub use network::Lookups;
pub use request::{Request, RequestError};
pub use transcript::Transcript;
pub use waits::{Stage, Waits};
