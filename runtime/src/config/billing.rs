//! `[billing]`: who sends invoices.
//!
//! Read by `api` for drafts and by `scheduler` when it makes invoices final.

use super::checks::Checks;
use serde::Deserialize;

/// Most characters of the seller.
const MOST: usize = 1000;

/// Settings of `[billing]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BillingConfig {
    /// Name and address of who sends invoices, several lines.
    pub seller: String,
}

impl BillingConfig {
    pub(super) fn check(&self, checks: &mut Checks) {
        let fits = self.seller.chars().count() <= MOST
            && !self.seller.chars().any(|c| c.is_control() && c != '\n');
        checks.rule("billing.seller", fits, "must have at most 1000 characters, and lines only");
    }
}
