//! The roles of one Berth: all in this process, or each in processes of its own.
//!
//! Both ways begin and end in the same order: who serves others starts before them and ends after them.

mod embedded;
mod full;
mod share;

pub use embedded::Embedded;
pub use full::{Counts, Full, Plan};

use super::probe;
use crate::failure::Failure;
use runtime::clock;
use std::net::SocketAddr;
use std::time::Duration;

const READY_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Waits until whoever answers on `address` is ready; `broken` is the failure to end with, if any.
async fn ready(
    role: &str,
    address: SocketAddr,
    broken: impl Fn() -> Option<Failure>,
) -> Result<(), Failure> {
    let until = clock::monotonic() + READY_LIMIT;
    while let Some(why) = probe::not_ready(address).await {
        if let Some(failure) = broken() {
            return Err(failure);
        }
        if clock::monotonic() > until {
            return Err(Failure::failed(format!(
                "the {role} is not ready within {READY_LIMIT:?}: {why}"
            )));
        }
        clock::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
