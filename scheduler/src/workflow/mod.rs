//! Workflow runs: gates of nodes are opened, ended tasks are counted into their runs, and stopped runs are cancelled.
//!
//! Each tick runs in every scheduler: concurrent ones lock different rows. Woken where tasks end, and by a timer.

mod gates;
mod runs;
mod stop;

pub(crate) use gates::GatesTick;
pub(crate) use runs::RunsTick;
pub(crate) use stop::StopTick;
