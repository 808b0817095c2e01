//! Ephemeral resources: what is never stored.

mod api_key;
mod new_secret;

use crate::provider::Ephemeral;

/// Every ephemeral resource.
#[must_use]
pub fn all() -> Vec<Box<dyn Ephemeral>> {
    vec![Box::new(api_key::ApiKey), Box::new(new_secret::NewSecret)]
}
