//! The executor stream's server side.

mod accept;
mod connections;
mod hello;
mod reader;
mod service;

pub(crate) use connections::Connections;
pub(crate) use service::StreamService;
