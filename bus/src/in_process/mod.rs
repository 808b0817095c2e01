//! The bus within one process: the embedded profile's default.

mod bus;
mod consumer;
mod queue;

pub(crate) use bus::InProcess;
pub(crate) use consumer::Consumer;
