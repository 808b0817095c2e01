//! A TCP proxy that misbehaves on demand, to put between any two parts.
//!
//! Used by tests of outages: every address in Berth can be set, so any of them can be this one. The mode is switched
//! at run time and acts on open connections too. The rule: bytes are late or lost as a whole network would do it,
//! never reordered or invented.

mod connection;
mod listener;
mod mode;
mod pump;

pub use listener::Proxy;
pub use mode::Mode;
