//! The load generator: little work per request, because it shares the cores with the measured processes.

mod closed_loop;
mod connection;
mod open_loop;
mod pages;

pub use closed_loop::closed_loop;
pub use connection::{Connection, Target};
pub use open_loop::{Sent, open_loop};
pub use pages::Pages;
