//! Private engines: Postgres, and with `--full` RabbitMQ and Redis, from the programs installed on this machine.
//!
//! The rule: an engine never runs as root, is reached by nobody but this user, keeps its data in a folder of its own, and
//! takes no port that somebody may want.

mod address;
mod place;
mod postgres;
mod programs;
mod rabbitmq;
mod redis;

pub use address::{free_port, owner_of};
pub use place::Places;
pub use postgres::Postgres;
pub use rabbitmq::RabbitMq;
pub use redis::Redis;

use super::child::Supervised;
use crate::failure::Failure;
use std::path::Path;

/// Why an engine is not there, with the end of its log.
fn not_there(engine: &str, why: &str, log: &Path) -> Failure {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n  ");
    Failure::failed(format!("{engine} {why}. The end of its log, {}:\n  {end}", log.display()))
}

/// An engine that has ended before it was ready is a reason to give up.
fn alive(server: &Supervised, engine: &str, log: &Path) -> Result<(), Failure> {
    server.over().map_or(Ok(()), |why| Err(not_there(engine, &format!("has ended ({why})"), log)))
}
