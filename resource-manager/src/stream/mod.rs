//! The executor stream's server side.

mod accept;
mod connections;
mod handshake;
mod hello;
mod reader;
mod service;

pub(crate) use connections::Connections;
pub(crate) use handshake::Handshake;
pub(crate) use service::StreamService;
