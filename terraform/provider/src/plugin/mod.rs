//! The wire: what makes a program a Terraform plugin, by the convention of go-plugin and protocol 6.
//!
//! Nothing here knows Berth. [`serve`] announces the plugin on standard output, accepts Terraform's connection with mutual TLS, and
//! passes each call to a [`Provider`]. Nothing may be printed before the announcement: Terraform would end the plugin.

mod certificate;
mod grpc;
mod handshake;
pub mod messages;
mod p521;
mod routes;
mod serve;

pub use serve::{Provider, serve};
