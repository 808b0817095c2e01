//! The HTTP server: from a table of routes to a socket, and back when told to stop.
//!
//! `start` opens everything and returns a handle; `mount` puts the table into actix; every request then goes
//! through `dispatch`.

mod compress;
mod dispatch;
mod door;
mod drain;
mod head;
mod home;
mod measure;
mod mount;
mod pieces;
mod share;
mod start;
mod state;

pub(crate) use home::spawn_beside;
pub(crate) use pieces::PIECE;
pub(crate) use share::FairShare;
pub use start::{Handle, StartError, start};
pub use state::State;
