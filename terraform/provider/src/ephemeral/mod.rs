//! Ephemeral resources: what is never stored.

use crate::provider::Ephemeral;

/// Every ephemeral resource.
#[must_use]
pub fn all() -> Vec<Box<dyn Ephemeral>> {
    Vec::new()
}
