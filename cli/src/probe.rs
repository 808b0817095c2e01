//! `berth probe`: whether a role is ready, for containers without a shell or an HTTP client.

use crate::failure::Failure;
use local::up::probe::not_ready;
use std::net::SocketAddr;

/// Which role.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code 0: ready; 1: not ready, or no answer within 2 s. Plain HTTP: of an API with TLS use `api.metrics_listen`.\n\nExample:\n  berth probe 127.0.0.1:9100"
)]
pub struct ProbeArguments {
    /// Address of its probes, IP:port.
    pub address: SocketAddr,
}

/// Asks /readyz of the role at the address.
pub async fn run(arguments: &ProbeArguments) -> Result<(), Failure> {
    match not_ready(arguments.address).await {
        None => Ok(()),
        Some(why) => Err(Failure::failed(format!("{} is not ready: {why}", arguments.address))),
    }
}
