//! The load generator: as little work a request as can be, because it shares the cores with what it measures.

mod closed_loop;
mod connection;
mod open_loop;

pub use closed_loop::closed_loop;
pub use connection::{Connection, Target};
pub use open_loop::{Sent, open_loop};
