//! A body that is there with its request: one that was made in this process.
//!
//! Called by `server::dispatch` in place of `Incoming`, under the same limits.

use super::body::{BodyRule, too_large};
use super::memory::Hold;
use crate::problem::Problem;
use actix_web::web::Bytes;

/// A body that came with its request, within `limit`, and counted.
pub(crate) fn given(
    body: &Bytes,
    (rule, limit): (BodyRule, usize),
    hold: &Hold,
) -> Result<Bytes, Problem> {
    if body.len() > limit {
        return Err(too_large(rule, limit, Some(body.len() as u64)));
    }
    hold.grow(body.len())?;
    Ok(body.clone())
}
