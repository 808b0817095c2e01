//! The executor stream's server side.

mod hello;
mod reader;
mod service;

pub(crate) use service::StreamService;
