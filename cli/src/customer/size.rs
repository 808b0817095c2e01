//! Whether a task is larger than the server takes, before it is sent.
//!
//! Small tasks are not asked for. What cannot be known, because the key may not read limits, is left to the server.

use super::connection::Connection;
use crate::failure::Failure;
use client::{Extensible, LimitSource, Limits};

/// A task of this size is sent without asking, bytes: few plans allow less, and the server says so itself.
const SMALL: usize = 64 * 1024;

/// Refuses a task of `size` bytes that is larger than the server takes.
pub(super) async fn check(connection: &Connection, size: usize) -> Result<(), Failure> {
    if size <= SMALL {
        return Ok(());
    }
    match connection.client.limits().await {
        Ok(limits) => judged(size, &limits),
        Err(_) => Ok(()),
    }
}

fn judged(size: usize, limits: &Limits) -> Result<(), Failure> {
    if size <= limits.payload_bytes {
        return Ok(());
    }
    let of = match &limits.payload_bytes_of {
        Extensible::Known(LimitSource::Plan) => "`payload_bytes` of your plan",
        Extensible::Known(LimitSource::Installation) => "`api.max_task_bytes` of the installation",
        Extensible::Other(_) => "see `berth limits`",
    };
    Err(Failure::usage(format!(
        "the task has {size} bytes; the limit is {} ({of}). Let it download its data",
        limits.payload_bytes
    )))
}
