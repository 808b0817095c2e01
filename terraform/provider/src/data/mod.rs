//! Data sources: what Terraform only reads.

use crate::provider::DataSource;

/// Every data source.
#[must_use]
pub fn all() -> Vec<Box<dyn DataSource>> {
    Vec::new()
}
