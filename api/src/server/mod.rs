//! The HTTP server: from a table of routes to a socket, and back when told to stop.
//!
//! `start` opens everything and returns a handle; `mount` puts the table into actix; every request then goes
//! through `dispatch`.

mod compress;
mod dispatch;
mod door;
mod drain;
mod head;
mod inside;
mod measure;
mod mount;
mod start;

pub use start::{Handle, start};
